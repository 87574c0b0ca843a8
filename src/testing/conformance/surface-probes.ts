import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Json, JsonObject } from './conformance-format.js';
import { differences } from './differences.js';
import { get, objectAt, send, textAt } from './surface-requests.js';
import type { ReadAnswer } from './surface-requests.js';

const CONFIG_MAPS = '/api/v1/namespaces/wire/configmaps';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const META = 'g=meta.k8s.io;v=v1';

/** The recording has the names of the probes only; these are the requests that the answers tell of. */
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

interface Probe {
  readonly method: string;
  readonly path: string;
  readonly body?: JsonObject | string;
  readonly type?: string;
}
const W1 = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'w1' } };
const ERRORS: Readonly<Record<string, Probe>> = {
  'err 404': { method: 'GET', path: `${CONFIG_MAPS}/nope` },
  'err 405': { method: 'POST', path: `${CONFIG_MAPS}/w1`, body: W1 },
  'err 405b': { method: 'PUT', path: CONFIG_MAPS, body: W1 },
  'err 409': { method: 'POST', path: CONFIG_MAPS, body: W1 },
  'err 404 ns': { method: 'GET', path: '/api/v1/namespaces/nosuch/configmaps/x' },
  'err 404 listns': { method: 'GET', path: '/api/v1/namespaces/nosuch/configmaps' },
  'err 404 res': { method: 'GET', path: '/api/v1/namespaces/wire/nosuch' },
  'err 404 gv': { method: 'GET', path: '/apis/nosuch/v1/things' },
  'err 404 create ns': { method: 'POST', path: '/api/v1/namespaces/nosuch/configmaps', body: W1 },
  'err 415': { method: 'POST', path: CONFIG_MAPS, body: 'x', type: 'text/plain' },
  'err 415p': { method: 'PATCH', path: `${CONFIG_MAPS}/w1`, body: {}, type: 'application/json' },
  'err cbor body': { method: 'POST', path: CONFIG_MAPS, body: 'x', type: 'application/cbor' },
  'err OPTIONS': { method: 'OPTIONS', path: CONFIG_MAPS },
  'err HEAD': { method: 'HEAD', path: CONFIG_MAPS },
  'err scale cm': { method: 'GET', path: `${CONFIG_MAPS}/w1/scale` },
  'err evil name': { method: 'GET', path: `${CONFIG_MAPS}/__proto__` },
  'err slash': { method: 'GET', path: `${CONFIG_MAPS}/` },
  'err delete ns default': { method: 'DELETE', path: '/api/v1/namespaces/default' },
  'err exec get': { method: 'GET', path: '/api/v1/namespaces/wire/pods/nosuch/exec?command=ls' },
  'err log nosuch': { method: 'GET', path: '/api/v1/namespaces/wire/pods/nosuch/log' },
  'err proxy svc': { method: 'GET', path: '/api/v1/namespaces/wire/services/nosuch/proxy/' },
};

export function isWireProbe(name: string): boolean {
  return /^(accept|columns|proto|encoding) /.test(name) || name === 'headers list' || name in ERRORS;
}

/** Creates what the probes read. */
export async function prepareProbes(url: string): Promise<void> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'wire' } };
  const made = [await create(url, '/api/v1/namespaces', namespace)];
  for (let index = 0; index < 7; index++) {
    const name = `w${index}`;
    made.push(await create(url, CONFIG_MAPS, { ...W1, metadata: { name }, data: { a: 'x'.repeat(30_000) } }));
  }
  const refused = made.find(({ status }) => status !== 201);
  if (refused) throw new Error(`the set-up is refused: ${refused.text}`);
}

/** One line per difference. */
export async function runWireProbe(url: string, name: string, expected: Json | undefined): Promise<string[]> {
  const [section = '', first = '', second = ''] = name.split(' ');
  if (section === 'accept') {
    const path = `${CONFIG_MAPS}${ACCEPT_PATHS[second] ?? ''}`;
    return differences(
      shownAccept(expected),
      shownView(await get(url, path, { accept: ACCEPTS[first] ?? '' })),
    );
  }
  if (section === 'columns') {
    const answer = await get(url, `/${first}/${second}`, { accept: ACCEPTS.table ?? '' });
    return differences(expected, { code: answer.status, cols: columnsOf(answer.text) });
  }
  if (section === 'proto') {
    const answer = await get(url, `/${first}/${second}`, { accept: PROTOBUF });
    const magic = answer.text.startsWith('k8s\0');
    return differences(expected, { code: answer.status, magic, type: answer.headers.get('content-type') });
  }
  if (section === 'encoding') {
    const { headers, status } = await get(url, CONFIG_MAPS, {
      'accept-encoding': name.slice('encoding '.length),
    });
    const vary = headers.get('vary');
    return differences(expected, { code: status, enc: headers.get('content-encoding'), vary });
  }
  if (name === 'headers list') {
    const { headers } = await get(url, CONFIG_MAPS);
    const wanted = Object.keys(expected as JsonObject).filter((header) => header !== 'transfer-encoding');
    const missing = wanted.filter((header) => !headers.has(header));
    return missing.map((header) => `${header}: expected the header, got none`);
  }
  return runError(url, ERRORS[name] as Probe, expected);
}

async function runError(url: string, { body, method, path, type }: Probe, expected: Json | undefined) {
  const answer = await send(url, method, path, {
    headers: { 'content-type': type ?? 'application/json' },
    ...(body !== undefined && { body: typeof body === 'string' ? body : stringifyJson(body) }),
  });
  const isJson = typeof objectAt(expected, 'body') !== 'string' && answer.text !== '';
  const whole = isJson ? (parseJson(answer.text) as JsonObject) : answer.text;
  const shown = isJson && (whole as JsonObject).kind !== 'Status' ? headOf(whole as JsonObject) : whole;
  const found = { code: answer.status, type: answer.headers.get('content-type'), body: shown };
  const { body: wanted, code, type: wantedType } = expected as JsonObject;
  return differences({ body: wanted, code, type: wantedType }, found);
}

function headOf({ apiVersion, kind }: JsonObject): JsonObject {
  return { apiVersion, kind };
}

function create(url: string, path: string, body: JsonObject): Promise<ReadAnswer> {
  return send(url, 'POST', path, {
    headers: { 'content-type': 'application/json' },
    body: stringifyJson(body),
  });
}

/** Of texts, which hold names and times, only the first bytes are compared. */
function shownAccept(expected: Json | undefined): Json {
  const kind = objectAt(expected, 'kind');
  const shown = typeof kind === 'string' ? kind.slice(0, 5) : kind;
  return { code: objectAt(expected, 'code'), type: objectAt(expected, 'type'), kind: shown };
}

function shownView({ headers, status, text }: ReadAnswer): Json {
  const type = headers.get('content-type');
  if (text.startsWith('k8s\0')) return { code: status, type, kind: 'PROTO' };
  if (!text.startsWith('{')) return { code: status, type, kind: text.slice(0, 5) };
  const body = parseJson(text) as JsonObject;
  const isTable = body.kind === 'Table';
  const columns = (body.columnDefinitions ?? []) as readonly JsonObject[];
  const [row] = (body.rows ?? []) as readonly JsonObject[];
  const [item] = (body.items ?? []) as readonly JsonObject[];
  return {
    code: status,
    type,
    kind: {
      api: body.apiVersion,
      kind: body.kind,
      ...(isTable && { cols: columns.map(({ name }) => textAt(name)), row: objectAt(row?.object, 'kind') }),
      ...(!isTable && item?.kind !== undefined && { itemKind: item.kind }),
    },
  };
}

function columnsOf(text: string): Json {
  const { columnDefinitions = [] } = parseJson(text) as { columnDefinitions?: readonly JsonObject[] };
  return columnDefinitions.map(({ description, format, name, priority, type }) => [
    textAt(name),
    textAt(type),
    textAt(format),
    typeof priority === 'number' ? priority : 0,
    textAt(description),
  ]);
}
