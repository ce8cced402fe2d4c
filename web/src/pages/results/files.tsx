// Files of a results folder, the HTML report among them.
import { address } from "../../lib/api";
import { bytes } from "../../lib/format";
import type { RunDetail } from "../../lib/types";
import { Card, CopyBlock, LinkButton } from "../../ui/basic";
import { Table } from "../../ui/table";

export function FilesView({ run }: { run: RunDetail }) {
  const file = (name: string) => address(`runs/${run.id}/files/${encodeURIComponent(name)}`);
  const report = run.files.some(({ name }) => name === "report.html");
  return (
    <div class="cards">
      {run.command && (
        <Card title="Command" wide>
          <CopyBlock text={run.command} label="Command" />
        </Card>
      )}
      <Card title="Files" about={run.path} wide>
        <Table
          label="Files"
          rows={run.files}
          id={(one) => one.name}
          columns={[
            { name: "name", title: "file", key: (one) => one.name, cell: (one) => <a href={file(one.name)} download={one.name}>{one.name}</a> },
            { name: "bytes", title: "size", right: true, key: (one) => one.bytes, cell: (one) => bytes(one.bytes) },
          ]}
        />
      </Card>
      {report && (
        <Card title="The HTML report" about="One file that needs nothing else." wide actions={<LinkButton small download href={file("report.html")}>Download</LinkButton>}>
          <iframe class="report" title="The HTML report" sandbox="allow-scripts" src={address(`runs/${run.id}/report`)} />
        </Card>
      )}
    </div>
  );
}
