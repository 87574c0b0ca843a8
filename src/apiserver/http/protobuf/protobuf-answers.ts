import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import { isDefinedByUsers } from '../../kinds/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { ProtobufEncoder, envelope, listMessage, watchFrame } from './encode-protobuf.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const LIST_META = `${META}.ListMeta`;

type Body = Readonly<Record<string, unknown>> & { readonly apiVersion?: string; readonly kind?: string };

/** Types of answers that are no kinds. What is partial has the metadata alone, which every type has in the same field. */
const OTHERS: Readonly<Record<string, string>> = {
  'v1/Status': `${META}.Status`,
  'meta.k8s.io/v1/PartialObjectMetadata': 'io.k8s.api.core.v1.Binding',
  'meta.k8s.io/v1beta1/PartialObjectMetadata': 'io.k8s.api.core.v1.Binding',
  'v1/Binding': 'io.k8s.api.core.v1.Binding',
  'v1/ComponentStatus': 'io.k8s.api.core.v1.ComponentStatus',
  'autoscaling/v1/Scale': 'io.k8s.api.autoscaling.v1.Scale',
  'policy/v1/Eviction': 'io.k8s.api.policy.v1.Eviction',
  ...Object.fromEntries(
    ['TokenReview', 'SelfSubjectReview', 'TokenRequest'].map((kind) => [
      `authentication.k8s.io/v1/${kind}`,
      `io.k8s.api.authentication.v1.${kind}`,
    ]),
  ),
  ...Object.fromEntries(
    [
      'SubjectAccessReview',
      'LocalSubjectAccessReview',
      'SelfSubjectAccessReview',
      'SelfSubjectRulesReview',
    ].map((kind) => [`authorization.k8s.io/v1/${kind}`, `io.k8s.api.authorization.v1.${kind}`]),
  ),
};

/** The answers are objects of the API, or lists of them. */
function fieldsOf(answer: object): Body {
  return answer as Body;
}

/** Answers in protobuf, of all types that have a message. */
export class ProtobufAnswers {
  private readonly encoder: ProtobufEncoder;

  constructor(
    private readonly kinds: KindRegistry,
    schemas: SchemaRegistry,
  ) {
    this.encoder = new ProtobufEncoder(schemas);
  }

  /** Whether objects of the kind can be answered so; of others, their metadata alone. */
  has(kind: Pick<KindDefinition, 'hasStrategicMerge' | 'schema'>): boolean {
    return !isDefinedByUsers(kind) && this.encoder.knows(kind.schema);
  }

  /** Undefined for what has no message. */
  encode(body: object): Buffer | undefined {
    const { apiVersion = '', kind = '', ...fields } = fieldsOf(body);
    const message = this.messageOf(`${apiVersion}/${kind}`, apiVersion, kind, fields);
    return message && envelope({ apiVersion, kind }, message);
  }

  /** An item of a list, which does not say what it is. */
  item(object: object, schema: string): Buffer {
    return this.encoder.message(fieldsOf(object), schema);
  }

  /** A list of items that are messages already. */
  list(
    head: { readonly apiVersion: string; readonly kind: string },
    metadata: object,
    items: readonly Buffer[],
  ): Buffer {
    return envelope(head, listMessage(this.encoder.message(fieldsOf(metadata), LIST_META), items));
  }

  /** An event of a watch; undefined for an object that has no message. */
  event(type: string, object: object): Buffer | undefined {
    const encoded = this.encode(object);
    return encoded && watchFrame(type, encoded);
  }

  private messageOf(name: string, apiVersion: string, kind: string, fields: Body): Buffer | undefined {
    const schema = this.schemaOf(name, apiVersion, kind);
    if (schema !== undefined)
      return this.encoder.knows(schema) ? this.encoder.message(fields, schema) : undefined;
    const items = kind.endsWith('List') ? this.itemSchemaOf(apiVersion, kind) : undefined;
    if (items === undefined || !this.encoder.knows(items)) return undefined;
    const all = (fields['items'] ?? []) as readonly Body[];
    const metadata = this.encoder.message(fieldsOf(fields['metadata'] ?? {}), LIST_META);
    return listMessage(
      metadata,
      all.map((item) => this.encoder.message(item, items)),
    );
  }

  private schemaOf(name: string, apiVersion: string, kind: string): string | undefined {
    if (Object.hasOwn(OTHERS, name)) return OTHERS[name];
    const found = this.kinds.findByKind(apiVersion, kind);
    return found && this.has(found) ? found.schema : undefined;
  }

  private itemSchemaOf(apiVersion: string, listKind: string): string | undefined {
    const partial = OTHERS[`${apiVersion}/${listKind.slice(0, -'List'.length)}`];
    if (apiVersion.startsWith('meta.k8s.io/')) return partial;
    const found = this.kinds.kinds.find(
      (kind) => kind.listKind === listKind && apiVersionOf(kind.type) === apiVersion,
    );
    return found && this.has(found) ? found.schema : undefined;
  }
}
