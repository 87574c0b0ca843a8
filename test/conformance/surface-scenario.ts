import { parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { Json, JsonObject } from './conformance-format.js';
import { listAt, objectAt, send, shownAnswer, textAt } from './surface-requests.js';
import type { ReadAnswer, SentRequest, Target } from './surface-requests.js';

export const CONFIG_MAPS = '/api/v1/namespaces/wire/configmaps';
const META = 'g=meta.k8s.io;v=v1';
const JSON_TYPE = { accept: 'application/json' };
const TABLE = { accept: `application/json;as=Table;${META}` };
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** The shown answers of probes by their names; each is asked for when its turn comes. */
export type Answers = Map<string, Json>;

/** A ConfigMap. */
export function aConfigMap(name: string, more: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, ...more };
}

/** Asks what the recording asked, in its order: what one probe changes, the next ones see. */
export class SurfaceScenario {
  readonly answers: Answers = new Map();
  /** The version of the collection before the first change. */
  private before = '';

  constructor(private readonly target: Target) {}

  async run(): Promise<Answers> {
    await this.anonymous();
    await this.encodings();
    await this.pages();
    await this.versions();
    await this.watches();
    await this.views();
    await this.errors();
    await this.deletions();
    await this.names();
    await this.namespaces();
    return this.answers;
  }

  private async ask(method: string, path: string, sent: SentRequest = {}): Promise<ReadAnswer> {
    return send(this.target, method, path, { ...sent, headers: { ...JSON_TYPE, ...sent.headers } });
  }

  private async read(path: string): Promise<JsonObject> {
    return parseJson((await this.ask('GET', path)).text) as JsonObject;
  }

  private async note(name: string, method: string, path: string, sent?: SentRequest): Promise<void> {
    this.answers.set(name, shownAnswer(await this.ask(method, path, sent)));
  }

  private async anonymous(): Promise<void> {
    const nobody = { ...this.target, token: '' };
    const paths = {
      '403': CONFIG_MAPS,
      healthz: '/healthz',
      version: '/version',
      api: '/api',
      root: '/',
      nope: '/nope',
      metrics: '/metrics',
    };
    for (const [name, path] of Object.entries(paths))
      this.answers.set(`anon ${name}`, shownAnswer(await send(nobody, 'GET', path, { headers: JSON_TYPE })));
    const wrong = { ...this.target, token: 'wrong' };
    this.answers.set(
      'headers 401',
      shownAnswer(await send(wrong, 'GET', CONFIG_MAPS, { headers: JSON_TYPE })),
    );
    const { headers } = await this.ask('GET', CONFIG_MAPS, { headers: { 'audit-id': 'abc' } });
    this.answers.set('headers audit echo', textAt(headers['audit-id']));
  }

  private async encodings(): Promise<void> {
    const { headers } = await this.ask('GET', `${CONFIG_MAPS}/kube-root-ca.crt`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    this.answers.set('gzip small', { enc: headers['content-encoding'] ?? null, vary: headers.vary ?? null });
    const zipped = '1f8b080000000000000305c1310e80200c40d1bbfc99c5b5abb3ab7b139000';
    await this.note('gzip body', 'POST', CONFIG_MAPS, {
      body: Buffer.from(zipped, 'hex'),
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
  }

  private async pages(): Promise<void> {
    const first = await this.read(`${CONFIG_MAPS}?limit=2`);
    this.before = textAt(objectAt(first, 'metadata', 'resourceVersion'));
    this.answers.set('page 1', { ...shownPage(first), rvnum: /^\d+$/.test(this.before) });
    const token = textAt(objectAt(first, 'metadata', 'continue'));
    const from = `continue=${encodeURIComponent(token)}`;
    const second = await this.read(`${CONFIG_MAPS}?limit=3&${from}`);
    const samerv = objectAt(second, 'metadata', 'resourceVersion') === this.before;
    this.answers.set('page 2', { ...shownPage(second), samerv });
    this.answers.set(
      'page selector',
      shownPage(await this.read(`${CONFIG_MAPS}?limit=2&labelSelector=parity%3Deven`)),
    );
    await this.note('continue other resource', 'GET', `/api/v1/namespaces/wire/secrets?${from}`);
    await this.note('continue with rv', 'GET', `${CONFIG_MAPS}?${from}&resourceVersion=5`);
    await this.note('continue rv0', 'GET', `${CONFIG_MAPS}?${from}&resourceVersion=0`);
    await this.note('continue selector', 'GET', `${CONFIG_MAPS}?${from}&labelSelector=parity%3Dodd`);
  }

  private async versions(): Promise<void> {
    await this.ask('POST', CONFIG_MAPS, { body: aConfigMap('later') });
    const now = textAt(objectAt(await this.read(CONFIG_MAPS), 'metadata', 'resourceVersion'));
    const cached = await this.read(`${CONFIG_MAPS}?limit=2&resourceVersion=0`);
    this.answers.set('limit rv0', {
      cont: objectAt(cached, 'metadata', 'continue') !== undefined,
      n: listAt(cached, 'items').length,
    });
    for (const match of ['Exact', 'NotOlderThan']) {
      const answer = await this.ask(
        'GET',
        `${CONFIG_MAPS}?resourceVersion=${now}&resourceVersionMatch=${match}`,
      );
      const list = parseJson(answer.text) as JsonObject;
      const same = objectAt(list, 'metadata', 'resourceVersion') === now;
      this.answers.set(`match ${match}`, { code: answer.status, n: listAt(list, 'items').length, same });
    }
    const exact = 'resourceVersionMatch=Exact';
    const past = await this.ask('GET', `${CONFIG_MAPS}?${exact}&resourceVersion=${this.before}`);
    const names = listAt(parseJson(past.text) as JsonObject, 'items').map(nameOf);
    this.answers.set('exact after change', { code: past.status, names });
    await this.note('exact rv 1', 'GET', `${CONFIG_MAPS}?${exact}&resourceVersion=1`);
    const future = String(Number(now) + 1_000_000);
    const newer = await this.ask(
      'GET',
      `${CONFIG_MAPS}?resourceVersionMatch=NotOlderThan&resourceVersion=${future}`,
    );
    this.answers.set('notolder future', {
      ...withoutNumbers(shownAnswer(newer)),
      retry: newer.headers['retry-after'] ?? null,
    });
    const probes = [
      ['get future', `${CONFIG_MAPS}/w1?resourceVersion=${future}`],
      ['exact future', `${CONFIG_MAPS}?${exact}&resourceVersion=${future}`],
    ] as const;
    for (const [name, path] of probes)
      this.answers.set(name, withoutNumbers(shownAnswer(await this.ask('GET', path))));
  }

  private async watches(): Promise<void> {
    const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const list = `${initial}&allowWatchBookmarks=true`;
    const now = textAt(objectAt(await this.read(CONFIG_MAPS), 'metadata', 'resourceVersion'));
    const partial = { accept: `application/json;as=PartialObjectMetadata;${META}` };
    const future = String(Number(now) + 1_000_000);
    const probes: readonly (readonly [string, string, Record<string, string>?, string?])[] = [
      ['watchlist', list],
      ['watchlist nobookmark', initial],
      ['watchlist false', `sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${now}`],
      ['watchlist rv', `${list}&resourceVersion=${now}`],
      ['watchlist table', list, TABLE],
      ['watchlist partial', list, partial],
      ['watch timeout', `resourceVersion=${this.before}`],
      ['watch norv', ''],
      ['watch rv0', 'resourceVersion=0'],
      ['watch rv1', 'resourceVersion=1'],
      ['watch future', `resourceVersion=${future}`],
      ['watch name', 'fieldSelector=metadata.name%3Dw2'],
      ['watch one path', '', JSON_TYPE, '/api/v1/watch/namespaces/wire/configmaps/w2'],
      ['watch stream=watch', '', { accept: 'application/json;stream=watch' }],
      ['watch yaml', '', { accept: 'application/yaml' }],
    ];
    await Promise.all(
      probes.map(async ([name, query, headers = JSON_TYPE, path = CONFIG_MAPS]) => {
        const answer = await this.ask('GET', `${path}?watch=true&timeoutSeconds=1&${query}`, { headers });
        this.answers.set(name, shownWatch(answer));
      }),
    );
    const watched = this.ask('GET', `${CONFIG_MAPS}?watch=true&timeoutSeconds=2&labelSelector=mark%3Dyes`);
    await this.label('w3', 'yes');
    await this.label('w3', null);
    this.answers.set('watch labels', shownWatch(await watched));
  }

  private async label(name: string, mark: string | null): Promise<void> {
    await this.ask('PATCH', `${CONFIG_MAPS}/${name}`, {
      body: stringifyJson({ metadata: { labels: { mark } } }),
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  }

  private async views(): Promise<void> {
    for (const include of ['None', 'Object', 'Bogus']) {
      const answer = await this.ask('GET', `${CONFIG_MAPS}/w1?includeObject=${include}`, { headers: TABLE });
      const body = parseJson(answer.text) as JsonObject;
      const [row] = listAt(body, 'rows');
      this.answers.set(`table include${include}`, {
        code: answer.status,
        keys: Object.keys((row ?? {}) as JsonObject).sort(),
        row: objectAt(row, 'object', 'kind'),
        ...(answer.status >= 400 && { msg: body.message }),
      });
    }
    const created = await this.ask('POST', CONFIG_MAPS, { body: aConfigMap('tabled'), headers: TABLE });
    this.answers.set('table create', {
      code: created.status,
      kind: objectAt(parseJson(created.text) as Json, 'kind'),
    });
    await this.ask('DELETE', `${CONFIG_MAPS}/tabled`);
    this.answers.set('pretty', (await this.ask('GET', `${CONFIG_MAPS}/w1?pretty=true`)).text);
    const curl = { 'user-agent': 'curl/8.5.0' };
    this.answers.set('curl pretty', (await this.ask('GET', `${CONFIG_MAPS}/w1`, { headers: curl })).text);
  }

  private async errors(): Promise<void> {
    const text = (body: string, type: string): SentRequest => ({ body, headers: { 'content-type': type } });
    const many = (length: number): string => 'x'.repeat(length);
    const w1 = `${CONFIG_MAPS}/w1`;
    const probes: readonly (readonly [string, string, string, SentRequest?])[] = [
      ['404', 'GET', `${CONFIG_MAPS}/nope`],
      ['405', 'POST', w1, { body: aConfigMap('w1') }],
      ['405b', 'PUT', CONFIG_MAPS, { body: aConfigMap('w1') }],
      ['405c', 'DELETE', '/api/v1/namespaces'],
      ['405d', 'POST', '/healthz'],
      ['409', 'POST', CONFIG_MAPS, { body: aConfigMap('w1') }],
      ['409rv', 'PUT', w1, { body: aConfigMap('w1', {}, { resourceVersion: '1' }) }],
      ['413', 'POST', CONFIG_MAPS, text(many(3 * 1024 * 1024 + 1), 'application/json')],
      ['413b', 'POST', CONFIG_MAPS, { body: aConfigMap('big', { data: { a: many(1024 * 1024 + 1) } }) }],
      ['413c', 'POST', CONFIG_MAPS, { body: aConfigMap('big', {}, { annotations: { a: many(256 * 1024 + 1) } }) }],
      ['404 ns', 'GET', '/api/v1/namespaces/nosuch/configmaps/x'],
      ['404 listns', 'GET', '/api/v1/namespaces/nosuch/configmaps'],
      ['404 res', 'GET', '/api/v1/namespaces/wire/nosuch'],
      ['404 gv', 'GET', '/apis/nosuch/v1/things'],
      ['404 create ns', 'POST', '/api/v1/namespaces/nosuch/configmaps', { body: aConfigMap('w1') }],
      ['415', 'POST', CONFIG_MAPS, text('x', 'text/plain')],
      ['415p', 'PATCH', w1, { body: {} }],
      ['OPTIONS', 'OPTIONS', CONFIG_MAPS],
      ['HEAD', 'HEAD', CONFIG_MAPS],
      ['TRACE', 'TRACE', CONFIG_MAPS],
      ['bad method', 'PROPFIND', CONFIG_MAPS],
      ['slash', 'GET', `${CONFIG_MAPS}/`],
      ['dslash', 'GET', `/${CONFIG_MAPS}`],
      ['scale cm', 'GET', `${w1}/scale`],
      ['encoded slash', 'GET', `${CONFIG_MAPS}/a%2Fb`],
      ['bad pct', 'GET', `${CONFIG_MAPS}/%zz`],
      ['dup query', 'GET', `${CONFIG_MAPS}?limit=1&limit=2`],
      ['evil name', 'GET', `${CONFIG_MAPS}/__proto__`],
      ['impersonate', 'GET', CONFIG_MAPS, { headers: { 'impersonate-user': 'bob' } }],
      ['impersonate group only', 'GET', CONFIG_MAPS, { headers: { 'impersonate-group': 'g' } }],
      ['delete ns default', 'DELETE', '/api/v1/namespaces/default'],
      [
        'create in kube ns deleted',
        'POST',
        '/api/v1/namespaces/kube-system/serviceaccounts',
        { body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } } },
      ],
      ['yaml body', 'POST', CONFIG_MAPS, text('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\n', 'application/yaml')],
      ['proto garbage', 'POST', CONFIG_MAPS, { body: Buffer.from('6b3873007a7a7a', 'hex'), headers: { 'content-type': PROTOBUF } }],
      ['cbor body', 'POST', CONFIG_MAPS, text('x', 'application/cbor')],
      ['exec get', 'GET', '/api/v1/namespaces/wire/pods/nosuch/exec?command=ls'],
      ['log nosuch', 'GET', '/api/v1/namespaces/wire/pods/nosuch/log'],
      ['proxy svc', 'GET', '/api/v1/namespaces/wire/services/nosuch/proxy/'],
      [
        'binding',
        'POST',
        '/api/v1/namespaces/wire/pods/nosuch/binding',
        { body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'nosuch' }, target: { kind: 'Node', name: 'n' } } },
      ],
    ]; // prettier-ignore
    for (const [name, method, path, sent] of probes) await this.note(`err ${name}`, method, path, sent);
    await this.ask('DELETE', `${CONFIG_MAPS}/yaml`);
  }

  private async deletions(): Promise<void> {
    const deleted = parseJson((await this.ask('DELETE', `${CONFIG_MAPS}/w6`)).text) as JsonObject;
    this.answers.set('delete returns', {
      ...deleted,
      details: { ...(deleted.details as JsonObject), uid: 'UID' },
    });
    await this.ask('POST', CONFIG_MAPS, { body: aConfigMap('fin', {}, { finalizers: ['x.y/z'] }) });
    const first = await this.ask('DELETE', `${CONFIG_MAPS}/fin`);
    const going = parseJson(first.text) as JsonObject;
    const again = await this.ask('DELETE', `${CONFIG_MAPS}/fin`);
    const create = shownAnswer(await this.ask('POST', CONFIG_MAPS, { body: aConfigMap('fin') }));
    const addfin = shownAnswer(await this.finalizers('fin', ['x.y/z', 'a.b/c']));
    await this.finalizers('fin', []);
    this.answers.set('delete finalizer', {
      ...{ addfin, create, again: again.status, code: first.status, kind: going.kind },
      gone: (await this.ask('GET', `${CONFIG_MAPS}/fin`)).status,
      grace: objectAt(going, 'metadata', 'deletionGracePeriodSeconds'),
      ts: objectAt(going, 'metadata', 'deletionTimestamp') !== undefined,
    });
    await this.ask('POST', CONFIG_MAPS, { body: aConfigMap('front') });
    const front = await this.ask('DELETE', `${CONFIG_MAPS}/front?propagationPolicy=Foreground`);
    const shown = parseJson(front.text) as JsonObject;
    const fin = objectAt(shown, 'metadata', 'finalizers');
    this.answers.set('delete foreground', { code: front.status, fin, kind: shown.kind });
    await this.finalizers('front', []);
    const all = await this.ask('DELETE', `${CONFIG_MAPS}?labelSelector=parity%3Dodd`);
    const list = parseJson(all.text) as JsonObject;
    const names = listAt(list, 'items').map(nameOf);
    const rv = objectAt(list, 'metadata', 'resourceVersion') !== undefined;
    this.answers.set('deletecollection', { code: all.status, kind: list.kind, n: names.length, names, rv });
  }

  private async finalizers(name: string, finalizers: readonly string[]): Promise<ReadAnswer> {
    return this.ask('PATCH', `${CONFIG_MAPS}/${name}`, {
      body: stringifyJson({ metadata: { finalizers } }),
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  }

  private async names(): Promise<void> {
    const path = `${CONFIG_MAPS}/w0`;
    const before = await this.read(path);
    const versionOf = (text: string): Json | undefined =>
      objectAt(parseJson(text) as Json, 'metadata', 'resourceVersion');
    const patch = (type: string): Promise<ReadAnswer> =>
      this.ask('PATCH', path, { body: '{}', headers: { 'content-type': `application/${type}+json` } });
    const unchanged = [
      await this.ask('PUT', path, { body: before }),
      await patch('merge-patch'),
      await patch('strategic-merge-patch'),
    ];
    const version = objectAt(before, 'metadata', 'resourceVersion');
    this.answers.set(
      'noop update keeps rv',
      unchanged.map(({ text }) => versionOf(text) === version),
    );
    const list = await this.read(CONFIG_MAPS);
    const [first] = listAt(list, 'items');
    const metadata = list.metadata as JsonObject;
    this.answers.set('list rv vs item', {
      firstKeys: Object.keys((first ?? {}) as JsonObject),
      keys: Object.keys(list).sort(),
      listGE: Number(metadata.resourceVersion) >= Number(objectAt(first, 'metadata', 'resourceVersion')),
      metaKeys: Object.keys(metadata),
    });
    const generated = await this.ask('POST', CONFIG_MAPS, {
      body: aConfigMap('', {}, { name: undefined, generateName: 'zz-' }),
    });
    const made = objectAt(parseJson(generated.text) as Json, 'metadata');
    const name = textAt(objectAt(made, 'name'));
    this.answers.set('generateName', {
      ...{ gn: objectAt(made, 'generateName'), len: name.length, ok: name.startsWith('zz-') },
    });
    const long = aConfigMap('', {}, { name: undefined, generateName: 'z'.repeat(300) });
    const refused = await this.ask('POST', CONFIG_MAPS, { body: long });
    const { message } = parseJson(refused.text) as JsonObject;
    this.answers.set('generateName long', { code: refused.status, msg: textAt(message) });
  }

  private async namespaces(): Promise<void> {
    const path = '/api/v1/namespaces/wirens';
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'wirens' } };
    await this.ask('POST', '/api/v1/namespaces', { body });
    const answer = await this.ask('DELETE', path);
    const going = parseJson(answer.text) as JsonObject;
    const del = {
      ...{ code: answer.status, kind: going.kind, fin: objectAt(going, 'spec', 'finalizers') },
      phase: objectAt(going, 'status', 'phase'),
    };
    const create = shownAnswer(await this.ask('POST', `${path}/configmaps`, { body: aConfigMap('x') }));
    this.answers.set('ns phases', { del, create, again: shownAnswer(await this.ask('DELETE', path)) });
  }
}

function nameOf(item: Json): string {
  return textAt(objectAt(item, 'metadata', 'name'));
}

function shownPage(list: JsonObject): JsonObject {
  return {
    cont: textAt(objectAt(list, 'metadata', 'continue')) !== '',
    items: listAt(list, 'items').map(nameOf),
    remaining: objectAt(list, 'metadata', 'remainingItemCount'),
  };
}

function withoutNumbers(answer: JsonObject): JsonObject {
  const body = answer.body as JsonObject;
  const message = textAt(body.message).replace(/\d+/g, 'N');
  return { ...answer, body: { ...body, message }, details: body.details };
}

/** The events of a watch that has ended, one line each. */
function shownWatch({ headers, status, text }: ReadAnswer): JsonObject {
  const lines = text.split('\n').filter((line) => line !== '');
  return {
    code: status,
    type: headers['content-type'] ?? null,
    te: headers['transfer-encoding'] ?? null,
    events: lines.map((line) =>
      line.startsWith('{') ? shownEvent(parseJson(line) as JsonObject) : { name: line, type: 'RAW' },
    ),
  };
}

function shownEvent({ object, type }: JsonObject): JsonObject {
  const shown = object as JsonObject;
  if (shown.kind === 'Table') {
    const columns = listAt(shown, 'columnDefinitions').length;
    const keys = type === 'BOOKMARK' ? bookmarkKeys(shown) : undefined;
    return {
      kind: shown.kind,
      type,
      rows: listAt(shown, 'rows').length,
      ...(columns > 0 && { cols: columns }),
      keys,
    };
  }
  if (type !== 'BOOKMARK') return { kind: shown.kind, name: nameOf(shown), type };
  return {
    ann: objectAt(shown, 'metadata', 'annotations'),
    keys: bookmarkKeys(shown),
    kind: shown.kind,
    type,
  };
}

/** The keys of the object and of its metadata, as the recording has them together. */
function bookmarkKeys(object: JsonObject): string[] {
  const metadata = (object.metadata ?? {}) as JsonObject;
  const own = object.kind === 'Table' ? Object.keys(metadata) : ['metadata', ...Object.keys(metadata)];
  return [...new Set([...Object.keys(object), ...own])].sort();
}
