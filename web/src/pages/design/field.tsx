// A field for one row of the parameter table.
import { useId } from "preact/hooks";

import { get } from "../../lib/api";
import { bytes } from "../../lib/format";
import { useLoad } from "../../lib/hooks";
import type { Device, Metric, Parameter, Parameters, Settings } from "../../lib/types";

type Value = Settings[string] | undefined;

export interface FieldProps {
  parameter: Parameter;
  value: Value;
  error: string | undefined;
  onChange: (value: Settings[string]) => void;
  metrics: Metric[];
  /** Models by their names. */
  kinds: Parameters["kinds"];
  /** Whether a list of values may stand for one. */
  lists: boolean;
}

const automatic = "automatic";
/** A rule that a closed select would cut off: it stands in the help. */
const isLong = (text: string) => text.length > 24;
const textOf = (value: Value): string => (Array.isArray(value) ? value.join(",") : value == null ? "" : String(value));

export function Field(props: FieldProps) {
  const id = useId();
  const { parameter, error } = props;
  const list = props.lists ? parameter.list : null;
  const wide = parameter.several && parameter.choices.length > 0;
  const names = ` (${parameter.choices.join(" ")})`; // the form shows them
  const help = (list ? list.help : parameter.help).replace(names, "").replace(", separated by commas,", wide ? "" : "$&");
  const text = list ? list.default_text : parameter.default_text;
  const noted = { id, "aria-invalid": error ? true : undefined, "aria-describedby": `${id}-help${error ? ` ${id}-error` : ""}` };
  return (
    <div class={`field${wide || parameter.name === "device" ? " across" : ""}`}>
      <Control {...props} noted={noted} placeholder={isLong(text) ? automatic : text || (list ?? parameter).value || ""} />
      <small id={`${id}-help`}>
        {help}
        {!wide && isLong(text) && `; ${automatic}: ${text}`}
      </small>
      {error && (
        <span class="error" id={`${id}-error`}>
          {error}
        </span>
      )}
    </div>
  );
}

type Noted = { id: string; "aria-invalid": boolean | undefined; "aria-describedby": string };

function Control(props: FieldProps & { noted: Noted; placeholder: string }) {
  const { parameter, value, onChange, noted } = props;
  const list = props.lists && parameter.list;
  if (parameter.name === "device") return <Devices {...props} />;
  if (parameter.type === "yes_no") {
    const usual = parameter.default === "yes";
    return (
      <label class="check">
        <input type="checkbox" {...noted} checked={value == null || value === "" ? usual : value === true || value === "yes"} onChange={(event) => onChange(event.currentTarget.checked === usual ? null : event.currentTarget.checked)} />
        <span>{parameter.title}</span>
      </label>
    );
  }
  if (parameter.choices.length > 0 && parameter.several) return <Chips {...props} />;
  if (parameter.choices.length > 0 && !list) {
    const titles = new Map(parameter.name === "score" ? props.metrics.map((metric) => [metric.name, metric.title]) : []);
    return (
      <>
        <label for={noted.id}>{parameter.title}</label>
        <select {...noted} value={textOf(value)} onChange={(event) => onChange(event.currentTarget.value || null)}>
          <option value="">{isLong(parameter.default_text) ? automatic : parameter.default_text || "as usual"}</option>
          {parameter.choices
            .filter((name) => name !== parameter.default)
            .map((name) => (
              <option key={name} value={name}>
                {titles.get(name) ?? name}
              </option>
            ))}
        </select>
      </>
    );
  }
  return (
    <>
      <label for={noted.id}>{parameter.title}</label>
      <input
        {...noted}
        type="text"
        autocomplete="off"
        spellcheck={false}
        inputMode={!list && (parameter.type === "number" || parameter.type === "whole_number") ? "decimal" : "text"}
        placeholder={props.placeholder}
        value={textOf(value)}
        onInput={(event) => onChange(event.currentTarget.value.trim() || null)}
      />
    </>
  );
}

/** Several names of a known set. */
function Chips({ parameter, value, onChange, noted, kinds }: FieldProps & { noted: Noted }) {
  const chosen = textOf(value).split(",").filter(Boolean);
  const usual = parameter.default ?? (parameter.choices.includes("auto") ? "auto" : "");
  const toggle = (name: string, on: boolean) => {
    const alone = name === "auto" || name === usual;
    const next = alone ? [] : on ? [...chosen.filter((one) => one !== "auto"), name] : chosen.filter((one) => one !== name);
    onChange(next.length > 0 ? next.join(",") : null);
  };
  const about = (name: string) => (parameter.name === "model" ? kinds.find((kind) => kind.name === name)?.about : undefined);
  const described = chosen.filter(about);
  return (
    <>
      <span class="label" id={`${noted.id}-label`}>
        {parameter.title}
      </span>
      <div class="choices" role="group" aria-labelledby={`${noted.id}-label`} aria-describedby={noted["aria-describedby"]}>
        {parameter.choices.map((name) => (
          <label key={name} class="choice" title={about(name)}>
            <input type="checkbox" checked={chosen.length === 0 ? name === usual : chosen.includes(name)} onChange={(event) => toggle(name, event.currentTarget.checked)} />
            {name === "auto" ? automatic : name}
          </label>
        ))}
      </div>
      {described.length > 0 && (
        <dl class="kinds">
          {described.map((name) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{about(name)}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

/** Devices of this machine with their free memory; several share the work. */
function Devices({ parameter, value, onChange, noted }: FieldProps & { noted: Noted }) {
  const devices = useLoad((signal) => get<{ devices: Device[] }>("devices", {}, signal), []).value?.devices ?? [];
  const chosen = textOf(value).split("+").filter((name) => name && name !== "auto");
  const toggle = (name: string, on: boolean) => {
    const next = devices.map(({ device }) => device).filter((one) => (one === name ? on : chosen.includes(one)));
    onChange(next.length > 0 ? next.join("+") : null);
  };
  return (
    <>
      <span class="label" id={`${noted.id}-label`}>
        {parameter.title}
      </span>
      <div class="choices" role="group" aria-labelledby={`${noted.id}-label`} aria-describedby={noted["aria-describedby"]}>
        <label class="choice">
          <input type="checkbox" checked={chosen.length === 0} onChange={() => onChange(null)} />
          automatic
        </label>
        {devices.map((device) => (
          <label key={device.device} class="choice" title={device.usable ? device.name : device.why_not}>
            <input type="checkbox" disabled={!device.usable} checked={chosen.includes(device.device)} onChange={(event) => toggle(device.device, event.currentTarget.checked)} />
            {device.device}
            <span class="soft">{device.usable ? `${bytes(device.free_bytes ?? 0)} free` : "not usable"}</span>
          </label>
        ))}
      </div>
    </>
  );
}
