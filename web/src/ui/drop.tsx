// A place to drop files on, and the progress of what is sent.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import { upload } from "../lib/api";
import { bytes, percent } from "../lib/format";
import { complain, status, useStore } from "../lib/store";
import type { Dataset } from "../lib/types";
import { Button } from "./basic";

export function Drop(props: { onDataset: (dataset: Dataset) => void; children?: ComponentChildren; accept?: string; title: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [sending, setSending] = useState<{ name: string; sent: number; total: number; stop: AbortController } | null>(null);
  const server = useStore(status);
  const send = async (file: File | undefined) => {
    if (!file) return;
    if (server && file.size > server.largest_upload_bytes)
      return complain(new Error(`${file.name} has ${bytes(file.size)}; the server takes at most ${bytes(server.largest_upload_bytes)}. Copy it into ${server.folder} instead.`));
    const stop = new AbortController();
    setSending({ name: file.name, sent: 0, total: file.size, stop });
    try {
      const dataset = await upload(file, (sent) => setSending((old) => old && { ...old, sent }), stop.signal);
      props.onDataset(dataset);
    } catch (error) {
      complain(error);
    }
    setSending(null);
  };
  if (server?.read_only) return null;
  return (
    <div
      class={`drop${over ? " over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void send(event.dataTransfer?.files[0]);
      }}
    >
      {sending ? (
        <div class="sending" role="status">
          <p>
            Copying {sending.name}: {bytes(sending.sent)} of {bytes(sending.total)} ({percent(sending.sent / Math.max(1, sending.total))})
          </p>
          <progress aria-label={`Copying ${sending.name}`} value={sending.sent} max={Math.max(1, sending.total)} />
          <Button small onClick={() => sending.stop.abort()}>
            Stop
          </Button>
        </div>
      ) : (
        <>
          <p class="drop-title">{props.title}</p>
          <input ref={input} type="file" class="hidden" aria-label={props.title} accept={props.accept} onChange={(event) => void send(event.currentTarget.files?.[0])} />
          <div class="actions">
            <Button kind="main" onClick={() => input.current!.click()}>
              Choose a file
            </Button>
            {props.children}
          </div>
          <p class="soft">It stays on the machine that runs Sheaf. CSV, TSV, Excel, ARFF, LIBSVM, NumPy, AnnData, BIOM, Matrix Market and PIN, also compressed.</p>
        </>
      )}
    </div>
  );
}
