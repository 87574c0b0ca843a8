import { Agreement } from './agreement.js';
import { AnswerServer } from './answer-server.js';
import { compareAnswer } from './compare-answers.js';
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
const PARTS: readonly AnswerPart[] = ['code', 'fields', 'message', 'warnings', 'object'];

/** Creates what a genuine server was given, and compares what is stored, and who owns its fields. */
export class RecordedDefaults implements ConformanceFormat {
  readonly name = 'defaulting';
  private server: AnswerServer | undefined;
  private agreement = new Agreement<AnswerPart>(PARTS);

  matches({ body, code, method, path }: RecordedCase): boolean {
    return (
      method === undefined && typeof path === 'string' && typeof code === 'number' && isJsonObject(body)
    );
  }

  async open(): Promise<void> {
    this.agreement = new Agreement<AnswerPart>(PARTS);
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
    const object = stored && withOwners(stored, managedFields);
    const { compared, differing } = compareAnswer({ ...genuine, method: 'POST', object }, answer);
    this.agreement.add(recorded.id.split(' ', 1)[0] ?? '', compared, differing);
    return PARTS.flatMap((part) => differing[part] ?? []);
  }

  agreed(): readonly string[] {
    return this.agreement.lines();
  }
}

function withOwners(stored: JsonObject, managedFields: Json | undefined): JsonObject {
  const metadata = isJsonObject(stored.metadata) ? stored.metadata : {};
  return managedFields === undefined ? stored : { ...stored, metadata: { ...metadata, managedFields } };
}

export const recordedDefaults: ConformanceFormat = new RecordedDefaults();
