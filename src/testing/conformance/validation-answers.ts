import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ConformanceFormat, RecordedCase, Json, JsonObject } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';
import type { OwnServer } from './own-server.js';
import { startOwnServer } from './own-server.js';

/** A request and a genuine API server's answer. */
export interface RecordedAnswer {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly body: JsonObject;
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
  readonly causes?: readonly { readonly field?: string }[];
}

/** The compared parts of an answer. */
interface Answer {
  readonly code: number;
  readonly body: {
    readonly reason?: string;
    readonly message?: string;
    readonly details?: { readonly causes?: RecordedAnswer['causes'] };
  };
}

/** The namespaces used in the recordings. */
const NAMESPACES = ['validation', 'validation-q'];

/**
 * Compares a genuine API server's answers to slightly wrong objects with the embedded server's: the code, and for 422
 * the reason and the rejected fields.
 */
class ValidationAnswers implements ConformanceFormat {
  readonly name = 'validation';
  private running: OwnServer | undefined;

  matches({ method, path, code }: RecordedCase): boolean {
    return typeof method === 'string' && typeof path === 'string' && typeof code === 'number';
  }

  /** Starts a separate server in memory and creates the objects of the set-up. */
  async open(setup: Json | undefined): Promise<void> {
    this.running = await startOwnServer();
    for (const name of NAMESPACES) {
      await this.expectCreated('/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      });
    }
    for (const item of Array.isArray(setup) ? (setup as Json[]) : []) {
      if (isJsonObject(item)) await this.expectCreated(item.path as string, item.body as JsonObject);
    }
  }

  async close(): Promise<void> {
    await this.running?.stop();
    this.running = undefined;
  }

  async run(recorded: RecordedCase): Promise<readonly string[]> {
    const expected = recorded as unknown as RecordedAnswer;
    const answer = await this.send(expected.method, `${expected.path}?dryRun=All`, expected.body);
    return compareAnswers(expected, answer);
  }

  private async expectCreated(path: string, body: JsonObject): Promise<void> {
    const { code, body: answer } = await this.send('POST', path, body);
    if (code !== 201) throw new Error(`the set-up is refused: ${path}: ${code} ${answer.message}`);
  }

  private async send(method: string, path: string, body: JsonObject): Promise<Answer> {
    const response = await fetch(`${this.running?.url ?? ''}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: stringifyJson(body),
    });
    return { code: response.status, body: (await response.json()) as Answer['body'] };
  }
}

export const validationAnswers: ConformanceFormat = new ValidationAnswers();

/** One line per difference. */
export function compareAnswers(expected: RecordedAnswer, { code, body }: Answer): string[] {
  if (code !== expected.code) {
    const shown = (text = ''): string => text.slice(0, 300);
    return [
      `code: expected ${expected.code}, got ${code}`,
      `  expected: ${shown(expected.message)}`,
      `  got: ${shown(body.message)}`,
    ];
  }
  if (code !== 422) return [];
  const problems: string[] = [];
  if (body.reason !== expected.reason)
    problems.push(`reason: expected ${expected.reason ?? ''}, got ${body.reason ?? ''}`);
  const wanted = fieldsOf(expected.causes);
  const found = fieldsOf(body.details?.causes);
  for (const field of wanted)
    if (!found.has(field)) problems.push(`${field}: expected a complaint, got none`);
  for (const field of found)
    if (!wanted.has(field)) problems.push(`${field}: expected no complaint, got one`);
  return problems;
}

function fieldsOf(causes: RecordedAnswer['causes'] = []): ReadonlySet<string> {
  return new Set(causes.map(({ field = '' }) => field));
}
