import { parseJson } from '@rollkeeper/machinery/kubernetes';
import type { Json, JsonObject } from './conformance-format.js';
import { differences } from './differences.js';
import { get, getHead, listAt, objectAt, send, textAt } from './surface-requests.js';
import type { ReadAnswer, Target } from './surface-requests.js';
import { CONFIG_MAPS, SurfaceScenario, aConfigMap } from './surface-scenario.js';
import type { Answers } from './surface-scenario.js';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const META = 'g=meta.k8s.io;v=v1';

/** The recording only has the names of the probes. These are the requests that its answers imply. */
const ACCEPTS: Readonly<Record<string, string>> = {
  table: `application/json;as=Table;${META}`,
  tablev1beta1: 'application/json;as=Table;g=meta.k8s.io;v=v1beta1',
  tableanyjson: `application/json;as=Table;${META},application/json`,
  pom: `application/json;as=PartialObjectMetadata;${META}`,
  poml: `application/json;as=PartialObjectMetadataList;${META}`,
  pomlb: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
  yaml: 'application/yaml',
  yamltable: `application/yaml;as=Table;${META}`,
  cbor: 'application/cbor',
  cborjson: 'application/cbor,application/json',
  proto: PROTOBUF,
  protojson: `${PROTOBUF},application/json`,
  prototable: `${PROTOBUF};as=Table;${META}`,
  protopom: `${PROTOBUF};as=PartialObjectMetadata;${META}`,
  protopoml: `${PROTOBUF};as=PartialObjectMetadataList;${META}`,
  xml: 'application/xml',
  star: '*/*',
  text: 'text/plain',
  bogusas: `application/json;as=Bogus;${META}`,
  pretty: 'application/json;pretty=1',
  html: 'text/html,application/xhtml+xml,*/*;q=0.8',
  none: '',
};
const ACCEPT_PATHS: Readonly<Record<string, string>> = { list: '', get: '/w1', 404: '/nope' };

/** Creates what the probes read. */
export async function prepareProbes(target: Target): Promise<void> {
  const wire = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'wire' } };
  const made = [
    await send(target, 'POST', '/api/v1/namespaces', { body: wire }),
    await send(target, 'POST', CONFIG_MAPS, {
      body: aConfigMap('kube-root-ca.crt', { data: { 'ca.crt': '' } }),
    }),
  ];
  for (let index = 0; index < 7; index++) {
    const labels = { parity: index % 2 === 0 ? 'even' : 'odd' };
    const body = aConfigMap(`w${index}`, { data: { a: 'x'.repeat(30_000) } }, { labels });
    made.push(await send(target, 'POST', CONFIG_MAPS, { body }));
  }
  const refused = made.find(({ status }) => status !== 201);
  if (refused) throw new Error(`the set-up is refused: ${refused.text}`);
}

const READING: ReadonlySet<string> = new Set(['accept', 'columns', 'encoding', 'proto', 'protowatch']);

/** Whether a probe is one of those that are made in their order. */
export function changesThings(name: string): boolean {
  return !READING.has(name.split(' ')[0] ?? '') && name !== 'headers list';
}

/** The traffic of one server: probes that change nothing, and then those of the scenario. */
export class WireProbes {
  private scenario: Promise<Answers> | undefined;

  constructor(private readonly target: Target) {}

  /** One line per difference. */
  async run(name: string, expected: Json | undefined): Promise<readonly string[]> {
    const [section = '', first = '', second = ''] = name.split(' ');
    switch (section) {
      case 'accept':
        return this.accept(first, second, expected);
      case 'columns': {
        const { status, text } = await get(this.target, `/${first}/${second}`, {
          accept: ACCEPTS.table ?? '',
        });
        return differences(expected, { code: status, cols: columnsOf(text) });
      }
      case 'proto':
      case 'protowatch':
        return this.protobuf(`/${first}/${second}`, section === 'protowatch', expected);
      case 'encoding':
        return this.encoding(name.slice('encoding '.length), expected);
    }
    return name === 'headers list' ? this.listHeaders(expected) : this.fromScenario(name, expected);
  }

  private async accept(
    first: string,
    second: string,
    expected: Json | undefined,
  ): Promise<readonly string[]> {
    const accept = ACCEPTS[first] ?? '';
    const answer = await get(this.target, `${CONFIG_MAPS}${ACCEPT_PATHS[second] ?? ''}`, { accept });
    return differences(shownAccept(expected), shownView(answer));
  }

  private async protobuf(
    path: string,
    isWatch: boolean,
    expected: Json | undefined,
  ): Promise<readonly string[]> {
    if (isWatch) {
      const watch = await getHead(this.target, `${path}?watch=true`, { accept: `${PROTOBUF};stream=watch` });
      return differences(expected, { code: watch.status, type: watch.headers['content-type'] ?? null });
    }
    const { headers, status, text } = await get(this.target, path, { accept: PROTOBUF });
    const type = headers['content-type'] ?? null;
    return differences(expected, { code: status, type, magic: text.startsWith('k8s\0') });
  }

  private async encoding(encoding: string, expected: Json | undefined): Promise<readonly string[]> {
    const { headers, status } = await get(this.target, CONFIG_MAPS, { 'accept-encoding': encoding });
    return differences(expected, {
      code: status,
      enc: headers['content-encoding'] ?? null,
      vary: headers.vary ?? null,
    });
  }

  private async listHeaders(expected: Json | undefined): Promise<readonly string[]> {
    const { headers } = await get(this.target, CONFIG_MAPS);
    const wanted = Object.keys(expected as JsonObject).filter((header) => header !== 'transfer-encoding');
    const missing = wanted.filter((header) => headers[header] === undefined);
    return missing.map((header) => `${header}: expected the header, got none`);
  }

  private async fromScenario(name: string, expected: Json | undefined): Promise<readonly string[]> {
    this.scenario ??= new SurfaceScenario(this.target).run();
    const found = (await this.scenario).get(name);
    if (found === undefined) throw new Error(`the scenario has no probe ${name}`);
    return differences(comparable(name, expected), comparable(name, cutLike(found, expected)));
  }
}

/** How a watch was read, and how long a refusal took: of the recorder, not of the server. */
const OF_RECORDER: ReadonlySet<string> = new Set(['rest', 'why', 'waited']);
/** The letters that a server adds to a name. */
const RANDOM = /(z{58})[a-z0-9]{5}/;

function comparable(name: string, value: Json | undefined): Json | undefined {
  if (name === 'generateName long') {
    const { code, msg } = (value ?? {}) as JsonObject;
    return { code, msg: textAt(msg).replace(RANDOM, '$1') };
  }
  if (name === 'anon version') return { ...(value as JsonObject), body: null };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value as JsonObject).filter(([field]) => !OF_RECORDER.has(field)));
}

/** The recording has the beginning of long texts. */
function cutLike(found: Json, expected: Json | undefined): Json {
  return typeof found === 'string' && typeof expected === 'string' ? found.slice(0, expected.length) : found;
}

/** Only the first bytes of texts, which hold names and times, are compared. */
function shownAccept(expected: Json | undefined): Json {
  const kind = objectAt(expected, 'kind');
  const shown = typeof kind === 'string' ? kind.slice(0, 5) : kind;
  return { code: objectAt(expected, 'code'), type: objectAt(expected, 'type'), kind: shown };
}

function shownView({ headers, status, text }: ReadAnswer): Json {
  const type = headers['content-type'] ?? null;
  if (text.startsWith('k8s\0')) return { code: status, type, kind: 'PROTO' };
  if (!text.startsWith('{')) return { code: status, type, kind: text.slice(0, 5) };
  const body = parseJson(text) as JsonObject;
  const isTable = body.kind === 'Table';
  const columns = listAt(body, 'columnDefinitions');
  const [row] = listAt(body, 'rows');
  const [item] = listAt(body, 'items') as readonly JsonObject[];
  return {
    code: status,
    type,
    kind: {
      api: body.apiVersion,
      kind: body.kind,
      ...(isTable && {
        cols: columns.map((column) => textAt(objectAt(column, 'name'))),
        row: objectAt(row, 'object', 'kind'),
      }),
      ...(!isTable && item?.kind !== undefined && { itemKind: item.kind }),
    },
  };
}

function columnsOf(text: string): Json {
  const columns = listAt(parseJson(text) as JsonObject, 'columnDefinitions') as readonly JsonObject[];
  return columns.map(({ description, format, name, priority, type }) => [
    textAt(name),
    textAt(type),
    textAt(format),
    typeof priority === 'number' ? priority : 0,
    textAt(description),
  ]);
}
