import type { IValidatingAdmissionPolicyBinding } from 'kubernetes-models/admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding';
import { compileLabelSelector, qualifiedResource } from '../../../base/kubernetes/index.js';
import type { KubernetesObject, Namespace } from '../../../base/kubernetes/index.js';
import { StatusError } from '../../errors/index.js';
import type { KindRegistry } from '../../kinds/index.js';
import type { Storage } from '../../storage/index.js';
import { refused } from '../attributes.js';
import type { Attributes } from '../attributes.js';
import type { FollowedObjects } from '../../storage/index.js';
import { reviewRequest } from '../webhooks/admission-review.js';
import { matchRequest } from '../webhooks/match-request.js';
import { compileSelection } from '../webhooks/webhook.js';
import type { Selection } from '../webhooks/webhook.js';
import { compilePolicy, decidePolicy } from './decide-policy.js';
import type { CompiledPolicy, Objection, Policy } from './decide-policy.js';
import { requestBudget } from './request-expressions.js';
import type { RequestValues } from './request-expressions.js';

export type PolicyBinding = IValidatingAdmissionPolicyBinding & KubernetesObject;

export interface PolicyKnowledge {
  readonly policies: FollowedObjects<Policy>;
  readonly bindings: FollowedObjects<PolicyBinding>;
  readonly namespaces: FollowedObjects<Namespace>;
  readonly kinds: KindRegistry;
  readonly storage: Storage;
}

const CODES: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Invalid: 422,
  RequestEntityTooLarge: 413,
  Unauthorized: 401,
};

/** The parameters of a binding cannot be found. */
class ParamsError extends Error {}

/** Asks the ValidatingAdmissionPolicies that bindings put into force. Without any binding, a request pays one look-up. */
export class PolicyPlugin {
  private readonly selections = new WeakMap<object, Selection>();

  constructor(private readonly known: PolicyKnowledge) {}

  /** @throws StatusError the first objection of a binding that denies */
  async validate(attributes: Attributes): Promise<void> {
    const bindings = this.known.bindings.list('');
    if (bindings.length === 0) return;
    for (const binding of [...bindings].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
      const policy = this.known.policies.get('', binding.spec?.policyName ?? '');
      if (policy) await this.ask(compilePolicy(policy), binding, attributes);
    }
  }

  private async ask(
    policy: CompiledPolicy,
    binding: Readonly<PolicyBinding>,
    attributes: Attributes,
  ): Promise<void> {
    const values = this.valuesFor(policy, binding, attributes);
    if (!values) return;
    const objections = await this.objectionsOf(policy, binding, attributes, values);
    const actions = binding.spec?.validationActions ?? [];
    const names = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.metadata.name}'`;
    if (actions.includes('Warn'))
      for (const { message } of objections)
        attributes.caller.warn(`Validation failed for ${names}: ${message}`);
    const [first] = objections;
    if (first && actions.includes('Deny'))
      throw denial(attributes, first, `${names} denied request: ${first.message}`);
  }

  /** @returns undefined when the request is none of theirs */
  private valuesFor(
    policy: CompiledPolicy,
    binding: Readonly<PolicyBinding>,
    attributes: Attributes,
  ): RequestValues | undefined {
    const { kinds, namespaces } = this.known;
    const labelsOf = (name: string) => namespaces.get('', name)?.metadata.labels ?? {};
    const shown = matchRequest(policy.selection, attributes, kinds, labelsOf);
    const own = this.selectionOf(binding);
    if (!shown || (own && !matchRequest(own, attributes, kinds, labelsOf))) return undefined;
    const { object, oldObject, ...request } = reviewRequest(attributes, shown);
    const namespaceObject = namespaces.get('', attributes.namespace) ?? null;
    return { object, oldObject, request, namespaceObject };
  }

  /** A binding that names no rules is for all that its policy is for, as far as its selectors go. */
  private selectionOf(binding: Readonly<PolicyBinding>): Selection | undefined {
    const said = binding.spec?.matchResources;
    if (!said) return undefined;
    const anything = [
      { apiGroups: ['*'], apiVersions: ['*'], operations: ['*' as const], resources: ['*/*', '*'] },
    ];
    const known =
      this.selections.get(binding) ??
      compileSelection({ ...said, resourceRules: said.resourceRules ?? anything });
    this.selections.set(binding, known);
    return known;
  }

  private async objectionsOf(
    policy: CompiledPolicy,
    binding: Readonly<PolicyBinding>,
    attributes: Attributes,
    values: RequestValues,
  ): Promise<Objection[]> {
    try {
      const all = await this.paramsOf(policy, binding, attributes.namespace);
      return all.flatMap((params) => decidePolicy(policy, { ...values, params }, requestBudget()));
    } catch (error) {
      if (!(error instanceof ParamsError)) throw error;
      return policy.failsOpen
        ? []
        : [{ message: `failed to configure binding: ${error.message}`, reason: 'Invalid' }];
    }
  }

  /** The objects that the policy is asked with, one after the other; `null` where it has no parameters. */
  private async paramsOf(
    { paramKind }: CompiledPolicy,
    { spec }: Readonly<PolicyBinding>,
    requestNamespace: string,
  ): Promise<readonly unknown[]> {
    const ref = spec?.paramRef;
    if (!paramKind || !ref) return [null];
    const { apiVersion = '', kind: word = '' } = paramKind;
    const kind = this.known.kinds.findByKind(apiVersion, word);
    if (!kind)
      throw new ParamsError(`failed to find resource referenced by paramKind: '${apiVersion}, Kind=${word}'`);
    const namespace = kind.type.namespaced ? ref.namespace || requestNamespace : '';
    if (kind.type.namespaced && namespace === '')
      throw new ParamsError(
        'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
      );
    const resource = qualifiedResource(kind.type);
    const found = ref.name
      ? [await this.known.storage.get({ resource, namespace, name: ref.name })]
      : (await this.known.storage.list(resource, { namespace })).items;
    const isSelected = ref.name ? () => true : compileLabelSelector(ref.selector ?? {});
    const params = found.flatMap((one) =>
      one && isSelected(one.object.metadata.labels) ? [one.object] : [],
    );
    if (params.length === 0 && ref.parameterNotFoundAction !== 'Allow')
      throw new ParamsError('no params found for policy binding with `Deny` parameterNotFoundAction');
    return params;
  }
}

function denial(attributes: Attributes, { reason }: Objection, message: string): StatusError {
  const { status } = refused(attributes, message);
  return new StatusError(CODES[reason] ?? 422, reason, status.message ?? message, {
    details: { ...status.details, causes: [{ message }] },
  });
}
