import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { Agreement } from './agreement.js';
import { AnswerServer } from './answer-server.js';
import type { RecordedRequest } from './answer-server.js';
import { compareAnswer, compareOldAnswer } from './compare-answers.js';
import type { AnswerPart, GenuineAnswer } from './compare-answers.js';
import type { ConformanceFormat, RecordedCase, Json } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';
import { playControllers } from './played-controllers.js';

type RecordedAnswer = GenuineAnswer & RecordedRequest & { readonly nodry?: boolean };

/** The namespaces used in the recordings. */
const NAMESPACES = ['validation', 'validation-q'];

const PARTS: readonly AnswerPart[] = ['code', 'fields', 'message', 'warnings', 'object'];

/**
 * Compares a genuine API server's answers with the embedded server's: code, reason and fields; since the recordings of 1.36
 * also the message, the warnings and the object. Every request is a dry run, so that none sees the others.
 */
export class RecordedAnswers implements ConformanceFormat {
  readonly name = 'answers';
  private server: AnswerServer | undefined;
  private compare = compareAnswer;
  private agreement = new Agreement<AnswerPart>(PARTS);
  private independent = 0;
  private readonly oneOf: number;

  /** Sends one in `oneOf` reads and dry runs; all by default. They are independent of each other. */
  constructor({ oneOf = 1 }: { readonly oneOf?: number } = {}) {
    this.oneOf = oneOf;
  }

  matches({ method, path, code }: RecordedCase): boolean {
    return typeof method === 'string' && typeof path === 'string' && typeof code === 'number';
  }

  /** Starts a separate server in memory and creates the objects of the set-up. */
  async open(setup: Json | undefined): Promise<void> {
    const items = Array.isArray(setup) ? (setup as readonly Json[]).filter(isJsonObject) : [];
    this.compare = items.every(({ query }) => query === undefined) ? compareOldAnswer : compareAnswer;
    this.agreement = new Agreement<AnswerPart>(PARTS);
    this.independent = 0;
    const server = (this.server = await AnswerServer.start());
    for (const name of NAMESPACES) await server.createNamespace(name);
    for (const item of items) await setUp(server, item as unknown as RecordedRequest);
    await playControllers(server);
  }

  async close(): Promise<void> {
    await this.server?.stop();
    this.server = undefined;
  }

  async run(recorded: RecordedCase): Promise<readonly string[]> {
    const genuine = recorded as unknown as RecordedAnswer;
    const isDry = genuine.method !== 'GET' && genuine.nodry !== true;
    const leavesNothing = isDry || genuine.method === 'GET';
    if (leavesNothing && this.independent++ % this.oneOf !== 0) return [];
    if (asksForShard(genuine)) return [];
    const query = [genuine.query ?? '', isDry ? 'dryRun=All' : ''].filter((text) => text !== '').join('&');
    const answer = await this.server?.send({ ...genuine, query });
    if (!answer) throw new Error('the server has been stopped');
    const { compared, differing } = this.compare(genuine, answer);
    this.agreement.add(kindOf(genuine.id), compared, differing);
    return PARTS.flatMap((part) => differing[part] ?? []);
  }

  agreed(): readonly string[] {
    return this.agreement.lines();
  }

  /** The share of answers that agree in a part. */
  share(part: AnswerPart): number {
    return this.agreement.share(part);
  }
}

/** An object of a kind that is not served is missing, and its cases differ. */
async function setUp(server: AnswerServer, item: RecordedRequest): Promise<void> {
  const { body, code } = await server.send({ ...item, method: 'POST' });
  if (code !== 201 && code !== 404)
    throw new Error(`the set-up is refused: ${item.path}: ${code} ${stringifyJson(body.message)}`);
}

/** The recorded server had the gate ShardedListAndWatch off, and ignored the parameter. Here it is on: docs/API.md. */
function asksForShard({ query = '' }: RecordedAnswer): boolean {
  return new URLSearchParams(query).has('shardSelector');
}

/** `update Pod~2/status.status.phase#1` is of `Pod`. */
function kindOf(id: string): string {
  return /^\w+ (\w+)/.exec(id)?.[1] ?? 'others';
}

export const recordedAnswers: ConformanceFormat = new RecordedAnswers();
