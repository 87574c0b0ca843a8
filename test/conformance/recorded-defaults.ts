import { Agreement } from './agreement.js';
import { AnswerServer } from './answer-server.js';
import type { ServerAnswer } from './answer-server.js';
import { compareAnswer, exactDifferences } from './compare-answers.js';
import type { AnswerPart, GenuineAnswer } from './compare-answers.js';
import type { ConformanceFormat, Json, JsonObject, RecordedCase } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';

type RecordedObject = Omit<GenuineAnswer, 'method'> & {
  readonly body: Json;
  readonly stored?: JsonObject;
  readonly managedFields?: Json;
};

/** The namespace used in the recording. */
const NAMESPACE = 'dflt';
/** Beyond the parts of all answers: the owners of the fields. */
type DefaultsPart = AnswerPart | 'owners';
const PARTS: readonly DefaultsPart[] = ['code', 'fields', 'message', 'warnings', 'object', 'owners'];

/** Creates what a genuine server was given. Compares the stored objects, and the owners of their fields. */
export class RecordedDefaults implements ConformanceFormat {
  readonly name = 'defaulting';
  private server: AnswerServer | undefined;
  private agreement = new Agreement<DefaultsPart>(PARTS);
  /** Why the objects that differ do, if they should. */
  private readonly rules = new Map<string, readonly string[]>();

  matches({ body, code, method, path }: RecordedCase): boolean {
    return method === undefined && typeof path === 'string' && typeof code === 'number' && isJsonObject(body);
  }

  async open(): Promise<void> {
    this.agreement = new Agreement<DefaultsPart>(PARTS);
    const server = (this.server = await AnswerServer.start());
    await server.createNamespace(NAMESPACE);
    // As the controller of a cluster does, which pods need.
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await server.send({ method: 'POST', path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, body });
  }

  async close(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  async run(recorded: RecordedCase): Promise<readonly string[]> {
    const { body, managedFields, stored, ...genuine } = recorded as unknown as RecordedObject;
    const answer = await this.server?.send({ method: 'POST', path: genuine.path, body });
    if (!answer) throw new Error('the server has been stopped');
    const { compared, differing } = compareAnswer({ ...genuine, method: 'POST', object: stored }, answer);
    const owners = managedFields === undefined ? [] : compareOwners(managedFields, answer.body);
    const all = { ...differing, ...(owners.length > 0 && { owners }) };
    const parts = managedFields === undefined ? compared : [...compared, 'owners' as const];
    this.agreement.add(kindOf(recorded.id), parts, all);
    this.rules.set(recorded.id, rulesOf(all, answer));
    return PARTS.flatMap((part) => all[part] ?? []);
  }

  async deliberate({ id }: RecordedCase): Promise<readonly string[]> {
    return this.rules.get(id) ?? [];
  }

  /** The share of answers that agree in a part. */
  share(part: DefaultsPart): number {
    return this.agreement.share(part);
  }

  agreed(): readonly string[] {
    return this.agreement.lines();
  }
}

/** The rules that explain all the differences of an object; none if anything is left. */
function rulesOf(
  differing: Readonly<Partial<Record<DefaultsPart, readonly string[]>>>,
  { body }: ServerAnswer,
): readonly string[] {
  const rules: string[] = [];
  for (const [part, lines] of Object.entries(differing)) {
    const rule = ruleOf(part, lines, body);
    if (rule === undefined) return [];
    rules.push(rule);
  }
  return rules;
}

function ruleOf(part: string, lines: readonly string[], { metadata }: JsonObject): string | undefined {
  const isOwned = isJsonObject(metadata) && metadata.managedFields !== undefined;
  if (part === 'owners' && !isOwned)
    return 'what programs write by the thousand has owners from its first apply on';
  if (part === 'object' && lines.every((line) => line.includes('.storageClassName')))
    return 'there is a default class';
  return undefined;
}

/** `Pod minimal` is a Pod. */
function kindOf(id: string): string {
  return id.split(' ', 1)[0] ?? '';
}

function compareOwners(genuine: Json, { metadata }: JsonObject): string[] {
  const own = isJsonObject(metadata) && Array.isArray(metadata.managedFields) ? metadata.managedFields : [];
  const untimed = (own as readonly Json[]).map((entry) => {
    if (!isJsonObject(entry)) return entry;
    const { time: _time, ...rest } = entry;
    return rest;
  });
  return exactDifferences(genuine, untimed, 'managedFields');
}

export const recordedDefaults: ConformanceFormat = new RecordedDefaults();
