import type { Answer, FuzzedServer, HostileRequest } from '../fuzzed-server.js';

/** An attack that a person has thought of, and that must stay refused or done. */
export interface Seed {
  /** The attack, in plain words. */
  readonly name: string;
  /** @throws when the server did not do what it should */
  run(world: SeedWorld): Promise<void>;
}

export const NAMESPACE = 'fuzz';
export const DEPLOYMENTS = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
/** A Deployment that is there, and new, when a seed begins. */
export const VICTIM = `${DEPLOYMENTS}/victim`;

export const JSON_TYPE = 'application/json';
export const YAML_TYPE = 'application/yaml';
export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
export const JSON_PATCH = 'application/json-patch+json';
export const MERGE_PATCH = 'application/merge-patch+json';
export const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
export const APPLY_PATCH = 'application/apply-patch+yaml';

const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422, 431]);

/** The server and the requests of a seed. */
export class SeedWorld {
  constructor(
    readonly server: FuzzedServer,
    /** How many times smaller than in earnest, for a short run. At least 1. */
    readonly easier = 1,
  ) {}

  /** @throws when the server fails, in any way */
  async send(request: HostileRequest): Promise<Answer> {
    const answer = await this.server.send(request);
    assertNoFault(request, answer);
    return answer;
  }

  write(method: string, path: string, contentType: string, body: string | Buffer): Promise<Answer> {
    return this.send({ method, path, headers: { 'content-type': contentType }, body });
  }

  patch(contentType: string, body: unknown, path = VICTIM): Promise<Answer> {
    return this.write('PATCH', path, contentType, typeof body === 'string' ? body : JSON.stringify(body));
  }

  /** @throws unless the request is refused as the client's fault; `saying` is a part of the message */
  async refuses(sent: Promise<Answer>, saying = ''): Promise<void> {
    const answer = await sent;
    if (!REFUSALS.has(answer.status)) throw new Error(`not refused: ${describe(answer)}`);
    if (!answer.text.includes(saying)) throw new Error(`does not say ${saying}: ${describe(answer)}`);
  }

  /** @throws unless the request is done */
  async does(sent: Promise<Answer>): Promise<Answer> {
    const answer = await sent;
    if (answer.status >= 300) throw new Error(`not done: ${describe(answer)}`);
    return answer;
  }

  scaled(count: number): number {
    return Math.max(1, Math.round(count / this.easier));
  }
}

/** An answer that the server should never give. */
export class ServerFault extends Error {
  constructor(
    request: HostileRequest,
    readonly answer: Answer,
  ) {
    super(`${request.method} ${request.path.slice(0, 200)}: ${describe(answer)}`);
  }

  /** The store did not answer in time, which is no fault of the server on a machine that is busy with others. */
  get isUnavailable(): boolean {
    return this.answer.status === 503;
  }
}

/** Messages with which a genuine server answers 500 although it is the client's fault; in any encoding. */
const LIKE_THERE = [
  'failed to create typed patch object (',
  'failed to convert new object (',
  'unknown patch type: ',
  'does not contain declared merge key: ',
  '"message":"map: map[',
  'expected a []interface {}, but received ',
  'list element types are not identical: ',
  'The order in patch list:',
  'strconv.ParseUint: parsing ',
  'resourceVersion should not be set on objects to be created',
  'target.name: Required value',
];

/** The answer of a proxy with nothing behind it. */
const NOBODY_LISTENS = 'nothing runs on the nodes of this server';

/** 501 names what we have not got, 504 a version of the future; every other 5xx is ours. @throws ServerFault */
export function assertNoFault(request: HostileRequest, answer: Answer): void {
  if (answer.status < 500 || answer.status === 501 || answer.status === 504) return;
  if (answer.status === 500 && LIKE_THERE.some((text) => answer.text.includes(text))) return;
  if (answer.status === 503 && answer.text.includes(NOBODY_LISTENS)) return;
  throw new ServerFault(request, answer);
}

export function describe({ ms, status, text }: Answer): string {
  return `${status} after ${ms.toFixed(0)} ms, ${text.slice(0, 400)}`;
}

/** A list that is no list: `count` times what `item` makes of the index. */
export function times<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

/** Text nested so deep. */
export function nested(depth: number, [open, inner, close]: readonly [string, string, string]): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

export function aDeployment(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels: { app: name }, ...metadata },
    spec: {
      selector: { matchLabels: { app: name } },
      template: aTemplate(name),
      ...spec,
    },
  };
}

export function aTemplate(app: string, spec: object = {}): object {
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } };
}

export function podBody(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
  };
}
