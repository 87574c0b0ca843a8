import type { KubernetesObject } from '@rollkeeper/runtime';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type {
  AdmissionOperation,
  FieldProblem,
  RefusedWith,
  RequestUser,
  Verdict,
} from './define-webhook.js';
import type { JsonPatchOperation } from './json-patch.js';

/** A request that is none of what a webhook is asked, and why: answered with 400. */
export class MalformedReviewError extends Error {}

/** The `request` of an AdmissionReview, `admission.k8s.io/v1`. */
export interface ReviewedRequest {
  readonly uid: string;
  readonly operation: AdmissionOperation;
  readonly object: KubernetesObject | undefined;
  readonly old: KubernetesObject | undefined;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly user: RequestUser;
  readonly dryRun: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** @throws MalformedReviewError */
export function readAdmissionReview(review: unknown): ReviewedRequest {
  const request = requestIn(review, 'admission.k8s.io/v1', 'AdmissionReview');
  const { dryRun, name, namespace, options, userInfo } = request;
  const { operation } = request;
  if (operation !== 'CREATE' && operation !== 'UPDATE' && operation !== 'DELETE')
    throw new MalformedReviewError(
      `request.operation: ${textOf(operation) || 'missing'}, and none is expected`,
    );
  const [object, old] = [objectIn(request, 'object'), objectIn(request, 'oldObject')];
  if (operation === 'DELETE' ? !old : !object)
    throw new MalformedReviewError(`request.${operation === 'DELETE' ? 'oldObject' : 'object'}: is missing`);
  return {
    uid: textOf(request['uid']),
    operation,
    object,
    old,
    name: textOf(name),
    namespace: textOf(namespace) || undefined,
    user: userOf(userInfo),
    dryRun: dryRun === true,
    options: isJsonObject(options) ? options : {},
  };
}

/** The `request` of a review. @throws MalformedReviewError */
export function requestIn(review: unknown, apiVersion: string, kind: string): Fields {
  const fields: Fields = isJsonObject(review) ? review : {};
  if (fields['apiVersion'] !== apiVersion || fields['kind'] !== kind)
    throw new MalformedReviewError(
      `expected ${kind} of ${apiVersion}, got ${textOf(fields['kind'])} of ${textOf(fields['apiVersion'])}`,
    );
  const { request } = fields;
  if (!isJsonObject(request)) throw new MalformedReviewError('request: is missing');
  if (textOf(request['uid']) === '') throw new MalformedReviewError('request.uid: is missing');
  return request;
}

/** The answer, or what it would be without the changes. */
export interface Admission {
  readonly refusal?: Refusal | undefined;
  readonly patch?: readonly JsonPatchOperation[];
  readonly warnings: readonly string[];
}

/** The Status of a refused request. */
interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly details?: {
    readonly name?: string;
    readonly kind?: string;
    readonly group?: string;
    readonly causes?: readonly {
      readonly reason: string;
      readonly field: string;
      readonly message: string;
    }[];
  };
}

export function admissionReview(uid: string, { patch = [], refusal, warnings }: Admission): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed: refusal === undefined,
      ...(refusal && { status: { ...refusal, status: 'Failure' } }),
      ...(patch.length > 0 && {
        patchType: 'JSONPatch',
        patch: Buffer.from(stringifyJson(patch)).toString('base64'),
      }),
      ...(warnings.length > 0 && { warnings }),
    },
  };
}

/** The refusal in a verdict; undefined: none. */
export function refusalOf(
  verdict: Verdict,
  { group, kind, name }: { readonly group: string; readonly kind: string; readonly name: string },
): Refusal | undefined {
  if (verdict === undefined) return undefined;
  if (typeof verdict === 'string')
    return verdict === '' ? undefined : { code: 403, reason: 'Forbidden', message: verdict };
  if (isRefusedWith(verdict)) return { reason: REASONS.get(verdict.code) ?? '', ...verdict };
  const problems: readonly FieldProblem[] = isFieldProblem(verdict) ? [verdict] : verdict;
  if (problems.length === 0) return undefined;
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  // As kube-apiserver says it.
  const what = texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
  return {
    code: 422,
    reason: 'Invalid',
    message: `${kind}${group === '' ? '' : `.${group}`} ${JSON.stringify(name)} is invalid: ${what}`,
    details: {
      ...{ name, kind, group },
      causes: problems.map(({ field, message }) => ({ reason: 'FieldValueInvalid', field, message })),
    },
  };
}

/** Kubernetes' words for codes of HTTP. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [400, 'BadRequest'],
  [401, 'Unauthorized'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
  [409, 'Conflict'],
  [410, 'Gone'],
  [413, 'RequestEntityTooLarge'],
  [422, 'Invalid'],
  [429, 'TooManyRequests'],
  [500, 'InternalError'],
  [503, 'ServiceUnavailable'],
  [504, 'Timeout'],
]);

function isRefusedWith(
  verdict: FieldProblem | readonly FieldProblem[] | RefusedWith,
): verdict is RefusedWith {
  return 'code' in verdict;
}

function isFieldProblem(verdict: FieldProblem | readonly FieldProblem[]): verdict is FieldProblem {
  return !Array.isArray(verdict);
}

/** Whether a value in a review is an object of the API: the server sends whole ones. */
export function isApiObject(value: unknown): value is KubernetesObject {
  return isJsonObject(value) && isJsonObject(value['metadata']);
}

function objectIn(request: Fields, field: 'object' | 'oldObject'): KubernetesObject | undefined {
  const object = request[field];
  if (object === undefined || object === null) return undefined;
  if (!isApiObject(object)) throw new MalformedReviewError(`request.${field}: is no object`);
  return object;
}

function userOf(info: unknown): RequestUser {
  const { extra, groups, uid, username }: Fields = isJsonObject(info) ? info : {};
  return {
    username: textOf(username),
    ...(textOf(uid) !== '' && { uid: textOf(uid) }),
    groups: Array.isArray(groups) ? groups.map(textOf) : [],
    extra: isJsonObject(extra)
      ? Object.fromEntries(
          Object.entries(extra).map(([key, values]) => [
            key,
            Array.isArray(values) ? values.map(textOf) : [],
          ]),
        )
      : {},
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
