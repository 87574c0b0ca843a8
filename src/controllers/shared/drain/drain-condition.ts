/** When a pod that drains is empty. */
export type DrainCondition =
  | {
      readonly kind: 'http';
      readonly port: number;
      /** With its query; begins with a slash. */
      readonly path: string;
      /** The path of the number in a JSON answer. @default the whole answer is the number */
      readonly field?: readonly string[];
      readonly equals: number;
    }
  | {
      readonly kind: 'metric';
      readonly port: number;
      readonly path: string;
      /** Its samples count together, regardless of their labels. */
      readonly metric: string;
      readonly equals: number;
    }
  | { readonly kind: 'annotation'; readonly key: string; readonly equals: string };

const MOST_PORTS = 65_535;
const HTTP =
  /^http :(?<port>\d{1,5})(?<path>\/[^\s"#\\]{0,255})(?: (?<field>(?:\.[\w-]{1,63}){1,8}))? == (?<equals>\d{1,15})$/;
const METRIC =
  /^metric :(?<port>\d{1,5})(?<path>\/[^\s"#\\]{0,255}) (?<metric>[a-zA-Z_:][\w:]{0,199}) == (?<equals>\d{1,15})$/;
const ANNOTATION = /^annotation (?<key>[\w./-]{1,317}) == (?<equals>[^\s"]{1,253})$/;

/** `http :8080/sessions == 0`, `http :8080/stats .open.sessions == 0`, `metric :9090/metrics sessions == 0`, or `annotation KEY == VALUE`; undefined if it is none. */
export function parseDrainCondition(text: string): DrainCondition | undefined {
  const { field, ...http } = HTTP.exec(text)?.groups ?? {};
  const asked = probeOf(http);
  if (asked)
    return { kind: 'http', ...asked, ...(field !== undefined && { field: field.slice(1).split('.') }) };
  const { metric = '', ...parts } = METRIC.exec(text)?.groups ?? {};
  const scraped = probeOf(parts);
  if (scraped) return { kind: 'metric', ...scraped, metric };
  const { equals, key } = ANNOTATION.exec(text)?.groups ?? {};
  return key === undefined || equals === undefined ? undefined : { kind: 'annotation', key, equals };
}

/** A text that {@link parseDrainCondition} reads. */
export function renderDrainCondition(condition: DrainCondition): string {
  if (condition.kind === 'annotation') return `annotation ${condition.key} == ${condition.equals}`;
  const what =
    condition.kind === 'metric'
      ? ` ${condition.metric}`
      : (condition.field ?? []).length > 0
        ? ` .${condition.field?.join('.')}`
        : '';
  return `${condition.kind} :${condition.port}${condition.path}${what} == ${condition.equals}`;
}

function probeOf({ equals, path, port }: Record<string, string | undefined>) {
  const number = Number(port);
  if (path === undefined || !(number > 0 && number <= MOST_PORTS)) return undefined;
  return { port: number, path, equals: Number(equals) };
}
