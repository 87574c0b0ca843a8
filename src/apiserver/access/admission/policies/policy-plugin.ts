import type { ValidatingAdmissionPolicyBinding } from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../../../schema/errors/index.js';
import type { Logger } from '@rollkeeper/machinery/logging';
import { refused, SERVER } from '../attributes.js';
import type { Attributes } from '../attributes.js';
import type { BrokenObject, FollowedObjects } from '../../../storage/index.js';
import { policyNameOf, selectionOfBinding, selectionOfPolicy } from '../salvage-selection.js';
import { convertedOnce } from '../webhooks/admission-review.js';
import type { Conversion } from '../webhooks/admission-review.js';
import type { Selection } from '../webhooks/webhook.js';
import { compilePolicy, decidePolicy } from './decide-policy.js';
import type { CompiledPolicy, Objection, Policy, Verdict } from './decide-policy.js';
import { ConfigurationError, PolicyScope } from './policy-scope.js';
import type { ScopeKnowledge } from './policy-scope.js';
import { requestBudget } from '../request-expressions.js';
import type { RequestValues } from '../request-expressions.js';

type PolicyBinding = ValidatingAdmissionPolicyBinding & KubernetesObject;

interface PolicyKnowledge extends ScopeKnowledge {
  readonly policies: FollowedObjects<Policy>;
  readonly bindings: FollowedObjects<PolicyBinding>;
  /** Receives what a genuine server writes to its audit log. */
  readonly logger: Logger;
}

const CODES: Readonly<Record<string, number>> = {
  Forbidden: 403,
  Invalid: 422,
  RequestEntityTooLarge: 413,
  Unauthorized: 401,
};

/** A policy or binding as far as it decides what it is for. */
interface Reach {
  readonly name: string;
  /** Undefined: everything, for a binding; nothing to refuse, for a policy. */
  readonly selection: Selection | undefined;
}

/**
 * Evaluates the ValidatingAdmissionPolicies that have bindings. Without bindings, a request costs one look-up. An
 * invalid policy or binding refuses everything that it may match, like a failing one, unless the policy ignores
 * failures.
 */
export class PolicyPlugin {
  private readonly scope: PolicyScope;

  constructor(private readonly known: PolicyKnowledge) {
    this.scope = new PolicyScope(known);
    known.policies.prepareBy(compilePolicy);
    known.bindings.prepareBy((binding) => this.scope.selectionOf(binding));
  }

  /** @throws StatusError the first objection of a binding that denies */
  async validate(attributes: Attributes): Promise<void> {
    const bindings = this.known.bindings.list('');
    if (bindings.length === 0 && this.known.bindings.broken.length === 0) return;
    this.refuseByBroken(bindings, attributes);
    const convert = convertedOnce(this.known.convert);
    for (const binding of [...bindings].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
      const policy = this.known.policies.get('', binding.spec.policyName);
      if (policy) await this.ask(compilePolicy(policy), binding, attributes, convert);
    }
  }

  /**
   * The server's own objects are exempt, or it would not start.
   * @throws StatusError 422
   */
  private refuseByBroken(bindings: readonly Readonly<PolicyBinding>[], attributes: Attributes): void {
    const { bindings: allBindings, policies } = this.known;
    const broken = { bindings: allBindings.broken, policies: policies.broken };
    if ((broken.bindings.length === 0 && broken.policies.length === 0) || attributes.caller === SERVER)
      return;
    for (const one of broken.policies) {
      const policy = { name: one.name, selection: selectionOfPolicy(one.object) };
      for (const binding of bindings)
        if (binding.spec.policyName === one.name)
          this.refuseWithin(policy, this.reachOf(binding), attributes, 'policy');
      for (const binding of broken.bindings)
        if (mayName(binding, one.name))
          this.refuseWithin(policy, reachOfBroken(binding), attributes, 'binding');
    }
    for (const one of broken.bindings)
      for (const policy of policies.list('')) {
        const { failsOpen, name, selection } = compilePolicy(policy);
        if (!failsOpen && mayName(one, name))
          this.refuseWithin({ name, selection }, reachOfBroken(one), attributes, 'binding');
      }
  }

  private reachOf(binding: Readonly<PolicyBinding>): Reach {
    return { name: binding.metadata.name, selection: this.scope.selectionOf(binding) };
  }

  private refuseWithin(
    policy: Reach,
    binding: Reach,
    attributes: Attributes,
    broken: 'policy' | 'binding',
  ): void {
    const isMeant = (selection: Selection): boolean =>
      this.scope.shownTo(selection, attributes) !== undefined;
    if (!policy.selection || !isMeant(policy.selection)) return;
    if (binding.selection && !isMeant(binding.selection)) return;
    const names = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
    const message = `failed to configure ${broken}: what is in the store cannot be understood`;
    throw denial(attributes, { reason: 'Invalid' }, `${names} denied request: ${message}`);
  }

  private async ask(
    policy: CompiledPolicy,
    binding: Readonly<PolicyBinding>,
    attributes: Attributes,
    convert: Conversion,
  ): Promise<void> {
    const shown = this.scope.shownTo(policy.selection, attributes, binding);
    if (!shown) return;
    const { annotations, objections } = await this.verdictOf(policy, binding, attributes, () =>
      this.scope.valuesOf(attributes, shown, convert),
    );
    const actions = binding.spec.validationActions;
    const names = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.metadata.name}'`;
    for (const { key, value } of annotations)
      this.log('audit annotation', attributes, { key: `${policy.name}/${key}`, value });
    const fromRules = objections.filter(({ isFatal }) => !isFatal);
    if (actions.includes('Audit'))
      for (const { message } of fromRules)
        this.log('validation failure', attributes, { validation: names, message });
    if (actions.includes('Warn'))
      for (const { message } of fromRules)
        attributes.caller.warn(`Validation failed for ${names}: ${message}`);
    const first = actions.includes('Deny') ? objections[0] : objections.find(({ isFatal }) => isFatal);
    if (first) throw denial(attributes, first, `${names} denied request: ${first.message}`);
  }

  private log(event: string, { caller, kind, name, namespace }: Attributes, fields: object): void {
    const { username: user } = caller.user;
    this.known.logger.info(event, { ...fields, user, resource: kind.type.resource, namespace, name });
  }

  private async verdictOf(
    policy: CompiledPolicy,
    binding: Readonly<PolicyBinding>,
    attributes: Attributes,
    valuesOf: () => Promise<RequestValues>,
  ): Promise<Verdict> {
    try {
      const all = await this.scope.paramsOf(policy.paramKind, binding.spec, attributes.namespace);
      const values = await valuesOf();
      const verdicts = all.map((params) => decidePolicy(policy, { ...values, params }, requestBudget()));
      return {
        objections: verdicts.flatMap(({ objections }) => objections),
        annotations: verdicts.flatMap(({ annotations }) => annotations),
      };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const message = `failed to configure binding: ${error.message}`;
      const objections: Objection[] = policy.failsOpen ? [] : [{ message, reason: 'Invalid', isFatal: true }];
      return { objections, annotations: [] };
    }
  }
}

function mayName({ object }: BrokenObject, policy: string): boolean {
  return (policyNameOf(object) ?? policy) === policy;
}

function reachOfBroken({ name, object }: BrokenObject): Reach {
  return { name, selection: selectionOfBinding(object) };
}

/** Why a policy refuses, in the form in which it answers. */
export function denial(
  attributes: Attributes,
  { reason }: Pick<Objection, 'reason'>,
  message: string,
): StatusError {
  const { status } = refused(attributes, message);
  return new StatusError(CODES[reason] ?? 422, reason, status.message ?? message, {
    details: { ...status.details, causes: [{ message }] },
  });
}
