import { randomUUID } from 'node:crypto';

import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../../../schema/errors/index.js';
import type { StatusDetails } from '../../../schema/errors/index.js';
import type { KindDefinition } from '../../../kinds/index.js';
import type { Attributes, Operation } from '../attributes.js';

/** The question to a webhook: an AdmissionReview's `request`, in `admission.k8s.io/v1` and `v1beta1` alike. */
export interface ReviewRequest {
  readonly uid: string;
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly [field: string]: unknown;
}

/** The webhook's answer, as far as it was found to be well-formed. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly status?: {
    readonly code?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly details?: StatusDetails;
  };
  /** The text of a JSON patch. */
  readonly patch?: string;
  readonly warnings: readonly string[];
}

/** A connection has none but those that are its object. */
const OPTIONS: Readonly<Record<Exclude<Operation, 'CONNECT'>, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** Shows an object of one kind in the form of another version or group of it. */
export type Conversion = (
  wanted: KindDefinition,
  own: KindDefinition,
  object: Readonly<UnstructuredObject>,
) => Promise<UnstructuredObject>;

/** For as long as the objects stay as they are: each is converted once into each form. */
export function convertedOnce(convert: Conversion): Conversion {
  const known = new Map<KindDefinition, Map<object, Promise<UnstructuredObject>>>();
  return (wanted, own, object) => {
    const forms = known.get(wanted) ?? new Map<object, Promise<UnstructuredObject>>();
    known.set(wanted, forms);
    const form = forms.get(object) ?? convert(wanted, own, object);
    forms.set(object, form);
    return form;
  };
}

/**
 * @param shown the kind in whose form the webhook wants to see the objects
 * @throws StatusError 500 when they cannot be converted
 */
export async function reviewRequest(
  attributes: Attributes,
  shown: KindDefinition,
  convert: Conversion,
): Promise<ReviewRequest> {
  const { caller, dryRun, kind, name, namespace, object, oldObject, operation, sent, subresource } =
    attributes;
  const form = (state: Readonly<UnstructuredObject> | undefined): unknown => {
    if (!state) return null;
    return sent ? state : convert(shown, kind, state);
  };
  const [before, after] = await Promise.all([form(oldObject), form(object)]);
  return {
    uid: randomUUID(),
    kind: kindOf(sent?.type ?? shown.type),
    resource: resourceOf(shown.type),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: kindOf(sent?.type ?? kind.type),
    requestResource: resourceOf(kind.type),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: caller.user,
    object: after,
    oldObject: before,
    dryRun,
    options:
      operation === 'CONNECT'
        ? null
        : {
            kind: OPTIONS[operation],
            apiVersion: 'meta.k8s.io/v1',
            ...(dryRun && { dryRun: ['All'] }),
          },
  };
}

function kindOf({ group, kind, version }: ResourceType): object {
  return { group, version, kind };
}

function resourceOf({ group, resource, version }: ResourceType): object {
  return { group, version, resource };
}

/** An AdmissionReview that came back, after it was decoded: its values have the types that they must have. */
export interface Review {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly response?: {
    readonly uid?: string;
    readonly allowed?: boolean;
    readonly status?: ReviewResponse['status'];
    readonly patch?: string;
    readonly patchType?: string;
    readonly warnings?: readonly string[];
  };
}

/**
 * Reads an AdmissionReview that came back. Source: VerifyAdmissionResponse in apiserver.
 * @throws Error saying what is wrong with it
 */
export function readReview(review: Review, uid: string, version: 'v1' | 'v1beta1'): ReviewResponse {
  const { apiVersion = '', kind = '', response } = review;
  if (!response) throw new Error('webhook response was absent');
  const { allowed, patch, patchType, status, uid: answered = '', warnings = [] } = response;
  if (version === 'v1') {
    const expected = 'admission.k8s.io/v1, Kind=AdmissionReview';
    const got = `${apiVersion}, Kind=${kind}`;
    if (got !== expected) throw new Error(`expected webhook response of ${expected}, got ${got}`);
    if (answered !== uid)
      throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(answered)}`);
    if (patch && !patchType) throw new Error('webhook returned response.patch but not response.patchType');
    if (!patch && patchType) throw new Error('webhook returned response.patchType but not response.patch');
    if (patch && patchType !== 'JSONPatch')
      throw new Error(`webhook returned invalid response.patchType of ${JSON.stringify(patchType)}`);
  }
  return {
    allowed: allowed === true,
    ...(status && { status }),
    ...(patch && { patch: Buffer.from(patch, 'base64').toString() }),
    warnings,
  };
}

/** The refusal of a webhook, in the words of a genuine server. Source: ToStatusErr in apiserver. */
export function denialBy(webhook: string, status: ReviewResponse['status'] = {}): StatusError {
  const deniedBy = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const { code: said = 0 } = status;
  const code = said >= 400 ? said : 400;
  const explanation = status.message || status.reason;
  const message = explanation ? `${deniedBy}: ${explanation}` : `${deniedBy} without explanation`;
  return new StatusError(code, status.reason ?? '', message, { details: status.details });
}
