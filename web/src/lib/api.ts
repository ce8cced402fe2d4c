// The interface of the server, relative to the page's <base>.
import type * as T from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | null,
  ) {
    super(message);
  }
}

const root = "api/v1/";

export const address = (path: string): string => root + path;

function errorOf(status: number, body: string): ApiError {
  try {
    const { code, message, field } = JSON.parse(body).error;
    return new ApiError(status, code, message, field ?? null);
  } catch {
    const message =
      status === 401
        ? "This browser is not known to the server. Open the address that sheaf app printed when it started."
        : `The server answered with status ${status}.`;
    return new ApiError(status, "failed", message, null);
  }
}

async function request<R>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<R> {
  const init: RequestInit = { method, signal: signal ?? null };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(address(path), init);
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    throw new ApiError(0, "unavailable", "The server does not answer. Is sheaf app still running?", null);
  }
  if (!answer.ok) throw errorOf(answer.status, await answer.text());
  return answer.status === 204 ? (undefined as R) : ((await answer.json()) as R);
}

type Query = Record<string, string | number | undefined>;

export function withQuery(path: string, query: Query = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set.map(([key, value]) => [key, String(value)]))}`;
}

export const get = <R>(path: string, query?: Query, signal?: AbortSignal): Promise<R> =>
  request<R>("GET", withQuery(path, query), undefined, signal);
export const post = <R>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<R> =>
  request<R>("POST", path, body, signal);
export const put = <R>(path: string, body: unknown): Promise<R> => request<R>("PUT", path, body);
export const remove = (path: string): Promise<void> => request<void>("DELETE", path);

/** Sends a file as it is read from the disk. */
export function upload(file: File, progress: (sent: number) => void, signal?: AbortSignal): Promise<T.Dataset> {
  return new Promise((resolve, reject) => {
    const transfer = new XMLHttpRequest();
    transfer.open("PUT", address(`uploads/${encodeURIComponent(file.name)}`));
    transfer.upload.onprogress = (event) => progress(event.loaded);
    transfer.onload = () => {
      if (transfer.status >= 200 && transfer.status < 300) resolve(JSON.parse(transfer.responseText));
      else reject(errorOf(transfer.status, transfer.responseText));
    };
    transfer.onerror = () => reject(new ApiError(0, "unavailable", "The upload was interrupted. Try again.", null));
    transfer.onabort = () => reject(new ApiError(0, "stopped", "The upload was stopped.", null));
    signal?.addEventListener("abort", () => transfer.abort());
    transfer.send(file);
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks again until the work is done; `first` is asked once, `again` after it. */
export async function finished<R>(
  ask: () => Promise<T.Work<R>>,
  signal?: AbortSignal,
  running?: (seconds: number) => void,
): Promise<R> {
  for (let wait = 150; ; wait = Math.min(wait * 1.5, 1000)) {
    const answer = await ask();
    if (signal?.aborted) throw new DOMException("", "AbortError");
    if (answer.state === "ready") return answer;
    if (answer.state === "failed") throw new ApiError(200, "failed", answer.message, null);
    running?.(answer.seconds ?? 0);
    await pause(wait);
  }
}

interface RunPage {
  total: number;
  runs: T.Run[];
}

/** Runs, up to `most`. */
export async function runs(query: Query, most = 1000, signal?: AbortSignal): Promise<RunPage> {
  const count = Math.min(most, 500);
  const whole = await get<RunPage>("runs", { ...query, from: 0, count }, signal);
  while (whole.runs.length < Math.min(whole.total, most)) {
    const next = await get<RunPage>("runs", { ...query, from: whole.runs.length, count }, signal);
    if (next.runs.length === 0) break;
    whole.runs.push(...next.runs);
  }
  return whole;
}

/** One row of a dataset with all its columns, however many. */
export async function datasetRow(dataset: string, row: number, signal?: AbortSignal): Promise<{ names: string[]; values: string[] }> {
  const columns = 500;
  const part = (first_column: number) =>
    finished<T.Rows>(() => get<T.Work<T.Rows> & T.Rows>(`datasets/${dataset}/rows`, { from: row, count: 1, first_column, columns }, signal), signal);
  const first = await part(0);
  const starts = Array.from({ length: Math.ceil(first.total_columns / columns) - 1 }, (_, k) => (k + 1) * columns);
  const parts = [first, ...(await Promise.all(starts.map(part)))];
  return { names: parts.flatMap((one) => one.columns.map(({ name }) => name)), values: parts.flatMap((one) => one.rows[0] ?? []) };
}

/** The columns that the model of a run reads. */
export const inputsOf = (run: string, signal?: AbortSignal) => finished<T.Inputs>(() => get<T.Work<T.Inputs> & T.Inputs>(`runs/${run}/inputs`, {}, signal), signal);

/** All rows of a CSV file of a run, up to `most`. */
export async function table(run: string, name: string, most = 200_000, signal?: AbortSignal): Promise<T.TablePage> {
  const count = 20_000;
  const path = `runs/${run}/tables/${encodeURIComponent(name)}`;
  const whole = await get<T.TablePage>(path, { from: 0, count }, signal);
  while (whole.rows.length < Math.min(whole.total_rows, most)) {
    const next = await get<T.TablePage>(path, { from: whole.rows.length, count }, signal);
    if (next.rows.length === 0) break;
    whole.rows.push(...next.rows);
  }
  return whole;
}
