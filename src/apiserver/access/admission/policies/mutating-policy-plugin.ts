import type { MutatingAdmissionPolicyBinding } from '@rollkeeper/machinery/types/admissionregistration-v1';
import { cloneJson, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../../../schema/errors/index.js';
import type { KindDefinition } from '../../../kinds/index.js';
import { DecodeError, normalizeObject } from '../../../schema/index.js';
import type { SchemaRegistry } from '../../../schema/index.js';
import type { BrokenObject, FollowedObjects } from '../../../storage/index.js';
import { SERVER } from '../attributes.js';
import type { Attributes, WriteAttributes } from '../attributes.js';
import { evaluateExpression, matchConditions, requestBudget } from '../request-expressions.js';
import type { RequestValues } from '../request-expressions.js';
import { policyNameOf, selectionOfBinding, selectionOfPolicy } from '../salvage-selection.js';
import { keepType } from '../webhooks/keep-type.js';
import { replaceContents } from '../webhooks/replace-contents.js';
import { compileMutations } from './compile-mutations.js';
import type { CompiledMutations, MutatingPolicy } from './compile-mutations.js';
import { blamed, evaluateVariables } from './decide-policy.js';
import { MutationError, mutated } from './mutate-by-expression.js';
import { denial } from './policy-plugin.js';
import { ConfigurationError, PolicyScope } from './policy-scope.js';
import type { ScopeKnowledge } from './policy-scope.js';

/** A binding that has been validated. */
type MutatingBinding = Required<Pick<MutatingAdmissionPolicyBinding, 'spec'>> & KubernetesObject;

interface MutatingKnowledge extends ScopeKnowledge {
  readonly policies: FollowedObjects<MutatingPolicy>;
  readonly bindings: FollowedObjects<MutatingBinding>;
  readonly schemas: SchemaRegistry;
}

/** A policy that was asked about a request, by one of its bindings and with one parameter object. */
interface Invocation {
  readonly policy: CompiledMutations;
  readonly binding: Readonly<MutatingBinding>;
  readonly shown: KindDefinition;
  readonly params: unknown;
}

/** The policies that were asked in a request, in case they have to be asked again. */
class MutationRound {
  /** The invocations that are asked again after a change. */
  readonly asked: Invocation[] = [];
  readonly due = new Set<Invocation>();
  hasChanged = false;
  /** The object when all had been asked. */
  output: unknown;

  /** The object is not any more what those before have seen. */
  changed(): void {
    this.hasChanged = true;
    for (const invocation of this.asked) this.due.add(invocation);
  }
}

/**
 * Lets the MutatingAdmissionPolicies that have bindings change what is written, before webhooks do. Without bindings, a request costs
 * one look-up. A policy or binding that cannot be understood refuses what it may be for. Source: dispatcher.go in
 * pkg/admission/plugin/policy/mutating of apiserver.
 */
export class MutatingPolicyPlugin {
  private readonly scope: PolicyScope;

  constructor(private readonly known: MutatingKnowledge) {
    this.scope = new PolicyScope(known);
    known.policies.prepareBy(compileMutations);
    known.bindings.prepareBy((binding) => this.scope.selectionOf(binding));
  }

  /**
   * @returns what was asked; undefined where there is nothing to ask
   * @throws StatusError where a policy fails that has to hold
   */
  async mutate(attributes: WriteAttributes): Promise<MutationRound | undefined> {
    const { bindings, policies } = this.known;
    const all = bindings.list('');
    if (all.length === 0 && bindings.broken.length === 0) return undefined;
    this.refuseByBroken(all, attributes);
    const round = new MutationRound();
    for (const binding of [...all].sort(byPolicyAndName)) {
      const policy = policies.get('', binding.spec.policyName ?? '');
      if (policy) await this.ask(compileMutations(policy), binding, attributes, round);
    }
    round.output = cloneJson(attributes.object);
    return round;
  }

  /**
   * Asks those again, once, that have not seen what was changed after them.
   * @throws StatusError
   */
  async again(attributes: WriteAttributes, round: MutationRound): Promise<void> {
    if (!sameJson(round.output, attributes.object)) round.changed();
    for (const invocation of round.due) await this.invoke(invocation, attributes);
  }

  private async ask(
    policy: CompiledMutations,
    binding: Readonly<MutatingBinding>,
    attributes: WriteAttributes,
    round: MutationRound,
  ): Promise<void> {
    const shown = this.scope.shownTo(policy.selection, attributes, binding);
    if (!shown) return;
    for (const params of await this.paramsOf(policy, binding, attributes)) {
      const invocation = { policy, binding, shown, params };
      if (await this.invoke(invocation, attributes)) round.changed();
      if (policy.isReinvoked) round.asked.push(invocation);
    }
  }

  /** @throws StatusError where they are missing, and the policy has to hold */
  private async paramsOf(
    policy: CompiledMutations,
    binding: Readonly<MutatingBinding>,
    attributes: Attributes,
  ): Promise<readonly unknown[]> {
    try {
      return await this.scope.paramsOf(policy.paramKind, binding.spec, attributes.namespace);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.fail({ policy, binding }, attributes, `failed to configure binding: ${error.message}`);
      return [];
    }
  }

  /** @returns whether it has changed the object */
  private async invoke(invocation: Invocation, attributes: WriteAttributes): Promise<boolean> {
    const { params, policy, shown } = invocation;
    const { convert } = this.known;
    const budget = requestBudget();
    const values = { ...(await this.scope.valuesOf(attributes, shown, convert)), params };
    const match = matchConditions(policy.conditions, values, budget);
    if (match.isMatch === undefined) this.fail(invocation, attributes, match.problem);
    if (!match.isMatch) return false;
    const before = cloneJson<UnstructuredObject>(attributes.object);
    const form = await convert(shown, attributes.kind, attributes.object);
    const result = this.mutations(invocation, attributes, form, values, budget);
    const changed = await convert(attributes.kind, shown, result);
    attributes.kind.applyDefaults(changed);
    if (sameJson(before, changed)) return false;
    replaceContents(attributes.object, changed);
    return true;
  }

  /** One after another, each on what those before have made. One that fails leaves the object as it is. */
  private mutations(
    invocation: Invocation,
    attributes: WriteAttributes,
    form: UnstructuredObject,
    values: RequestValues,
    budget: ReturnType<typeof requestBudget>,
  ): UnstructuredObject {
    const { policy, shown } = invocation;
    const { kinds, schemas } = this.known;
    let object = form;
    for (const mutation of policy.mutations) {
      const now = { ...values, object };
      const { failed, variables } = evaluateVariables(policy, now, budget);
      const outcome = blamed(
        evaluateExpression(mutation.expression, { ...now, variables }, budget),
        mutation.expression,
        failed,
      );
      if (outcome.type !== 'value') {
        this.fail(invocation, attributes, outcome.message);
        continue;
      }
      try {
        const next = mutated(object, mutation, outcome.value, { kind: shown, schemas });
        normalizeObject(next, schemas, shown.schema);
        keepType(next, shown, kinds);
        object = next;
      } catch (error) {
        if (!isOfMutation(error)) throw error;
        this.fail(invocation, attributes, problemOf(error));
      }
    }
    return object;
  }

  /** @throws StatusError 422 where the policy has to hold */
  private fail(
    { binding, policy }: Pick<Invocation, 'binding' | 'policy'>,
    attributes: Attributes,
    problem: string,
  ): void {
    if (policy.failsOpen) return;
    const names = `policy '${policy.name}' with binding '${binding.metadata.name}'`;
    throw denial(attributes, { reason: 'Invalid' }, `${names} denied request: ${problem}`);
  }

  /**
   * The server's own objects are exempt, or it would not start.
   * @throws StatusError 422
   */
  private refuseByBroken(bindings: readonly Readonly<MutatingBinding>[], attributes: Attributes): void {
    const { policies } = this.known;
    const brokenBindings = this.known.bindings.broken;
    if ((brokenBindings.length === 0 && policies.broken.length === 0) || attributes.caller === SERVER) return;
    const isMeant = (selection: Parameters<PolicyScope['shownTo']>[0] | undefined): boolean =>
      selection === undefined || this.scope.shownTo(selection, attributes) !== undefined;
    const refuse = (what: string): never => {
      const problem = `failed to configure ${what}: what is in the store cannot be understood`;
      throw denial(attributes, { reason: 'Invalid' }, problem);
    };
    for (const one of policies.broken) {
      const selection = selectionOfPolicy(one.object);
      const bound = bindings.filter(({ spec }) => spec.policyName === one.name);
      const isBound =
        bound.some((binding) => isMeant(this.scope.selectionOf(binding))) ||
        brokenBindings.some((binding) => mayName(binding, one.name));
      if (selection && isBound && isMeant(selection)) refuse(`policy '${one.name}'`);
    }
    for (const one of brokenBindings)
      for (const policy of policies.list('').map(compileMutations))
        if (
          !policy.failsOpen &&
          mayName(one, policy.name) &&
          isMeant(policy.selection) &&
          isMeant(selectionOfBinding(one.object))
        )
          refuse(`binding '${one.name}'`);
  }
}

function mayName({ object }: BrokenObject, policy: string): boolean {
  return (policyNameOf(object) ?? policy) === policy;
}

function byPolicyAndName(a: Readonly<MutatingBinding>, b: Readonly<MutatingBinding>): number {
  const keyOf = ({ metadata, spec }: Readonly<MutatingBinding>): string =>
    `${spec.policyName ?? ''}\n${metadata.name}`;
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

function isOfMutation(error: unknown): error is Error {
  return error instanceof MutationError || error instanceof StatusError || error instanceof DecodeError;
}

/** A patch that does not fit says so in its cause. */
function problemOf(error: Error): string {
  const cause = error instanceof StatusError ? error.status.details?.causes?.[0]?.message : undefined;
  return cause ?? error.message;
}
