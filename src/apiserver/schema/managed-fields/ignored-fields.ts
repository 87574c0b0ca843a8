import type { FieldSet } from './field-set.js';
import { difference, recursiveDifference, setOf } from './field-set.js';

/** Fields that only the server writes; they have no owner. Source: `stripMeta` of apimachinery's managedfields. */
const SERVER_FIELDS = setOf(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => ['f:metadata', `f:${name}`]),
);

const STATUS = setOf(['f:status']);
const SPEC = setOf(['f:spec']);

/** The fields that a write of an object, or of a subresource, leaves as they are. */
type Resets = Readonly<Record<string, FieldSet>>;

const USUAL: Resets = { '': STATUS, status: SPEC };

/** Types whose writes leave other parts. Source: GetResetFields of their strategies. */
const RESETS: Readonly<Record<string, Resets>> = {
  // The request is written once, at the creation.
  'io.k8s.api.certificates.v1.CertificateSigningRequest': {
    '': setOf(['f:spec'], ['f:status']),
    status: setOf(['f:spec']),
    approval: setOf(['f:spec'], ['f:status', 'f:certificate']),
  },
};

export function withoutServerFields(set: FieldSet): FieldSet {
  return difference(set, SERVER_FIELDS);
}

/** Parts of an applied configuration that have no effect: a status in the object, a spec in its status. */
export function withoutOtherPart(set: FieldSet, subresource: string, { type = '' }: Typed = {}): FieldSet {
  const resets = RESETS[type] ?? USUAL;
  return recursiveDifference(set, resets[subresource] ?? STATUS);
}

/** The shape of a whole type. */
interface Typed {
  /** Name of its schema. */
  readonly type?: string;
}
