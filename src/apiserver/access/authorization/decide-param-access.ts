import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { UserInfo } from '../auth/index.js';
import type { FieldError } from '../../schema/errors/index.js';
import type { KindRegistry } from '../../kinds/index.js';
import type { ResourceAttributes } from '../../cel/library/access-attributes.js';

interface ParamKind {
  readonly apiVersion?: string;
  readonly kind?: string;
}

interface ParamRef {
  readonly name?: string;
  readonly namespace?: string;
}

interface ParamSpec {
  readonly paramKind?: ParamKind;
  readonly paramRef?: ParamRef;
  readonly policyName?: string;
}

/** An admission policy, or a binding, about to be written. */
interface ParamWrite {
  readonly user: UserInfo;
  /** `validatingadmissionpolicies`, `mutatingadmissionpolicybindings` … */
  readonly resource: string;
  readonly object: Readonly<UnstructuredObject>;
  /** Absent: it is created. */
  readonly old?: Readonly<UnstructuredObject>;
}

/** The facts that a decision needs. */
export interface ParamKnowledge {
  readonly kinds: Pick<KindRegistry, 'findByKind'>;
  policyNamed(resource: string, name: string): Readonly<UnstructuredObject> | undefined;
  may(user: UserInfo, question: ResourceAttributes): boolean;
}

const ANYTHING = { group: '*', resource: '*' };

/**
 * The reason against a write of a policy with parameters: the server reads them, and shows them in messages, so that
 * its writer must be able to read them alone. Asked of valid objects. Source: authz.go of each kind in
 * pkg/registry/admissionregistration.
 */
export function decideParamAccess(write: ParamWrite, known: ParamKnowledge): FieldError[] {
  return /policies$/.test(write.resource) ? ofPolicy(write, known) : ofBinding(write, known);
}

function ofPolicy({ object, old, user }: ParamWrite, known: ParamKnowledge): FieldError[] {
  const { paramKind } = specOf(object);
  if (!paramKind || (old && semanticEqual(specOf(old).paramKind, paramKind))) return [];
  const everywhere = { name: '*', namespace: '*' };
  const question = { verb: 'get', subresource: '', ...everywhere, ...resourceOf(paramKind, known) };
  if (known.may(user, question)) return [];
  const { apiVersion = '', kind = '' } = paramKind;
  const problem = `user ${goTextOf(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  return [forbidden('spec.paramKind', problem)];
}

function ofBinding({ object, old, resource, user }: ParamWrite, known: ParamKnowledge): FieldError[] {
  const { paramRef, policyName = '' } = specOf(object);
  if (!paramRef) return [];
  const before = old && specOf(old);
  if (before && before.policyName === policyName && semanticEqual(before.paramRef, paramRef)) return [];
  const policies = resource.replace(/policybindings$/, 'policies');
  const policy = known.policyNamed(policies, policyName);
  const paramKind = policy && specOf(policy).paramKind;
  const { name = '', namespace = '' } = paramRef;
  const verb = resource.startsWith('mutating') && name === '' ? 'list' : 'get';
  const what = paramKind ? resourceOf(paramKind, known) : ANYTHING;
  if (known.may(user, { verb, subresource: '', name, namespace, ...what })) return [];
  const problem = `user ${goTextOf(user)} does not have "${verb}" permission on the object referenced by paramRef`;
  return [forbidden('spec.paramRef', problem)];
}

/** The whole group, or all groups, if the resource is unknown. */
function resourceOf({ apiVersion = '', kind = '' }: ParamKind, { kinds }: ParamKnowledge): typeof ANYTHING {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return ANYTHING;
  const group = parts.length === 2 ? parts[0]! : '';
  return { group, resource: kinds.findByKind(apiVersion, kind)?.type.resource ?? '*' };
}

function specOf(object: Readonly<UnstructuredObject>): ParamSpec {
  return object.spec ?? {};
}

function forbidden(field: string, problem: string): FieldError {
  return { type: 'FieldValueForbidden', field, message: `Forbidden: ${problem}` };
}

/** As Go's `%v` shows a user. */
function goTextOf({ extra = {}, groups, uid = '', username }: UserInfo): string {
  const more = Object.keys(extra)
    .sort()
    .map((key) => `${key}:[${extra[key]!.join(' ')}]`);
  return `&{${username} ${uid} [${groups.join(' ')}] map[${more.join(' ')}]}`;
}
