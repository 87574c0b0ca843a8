import type { MutatingAdmissionPolicy } from '@rollkeeper/machinery/types/admissionregistration-v1';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { compileRequestExpression, compileVariables } from '../../../kinds/index.js';
import type { RequestExpression } from '../../../kinds/index.js';
import { compileSelection } from '../webhooks/webhook.js';
import type { Selection } from '../webhooks/webhook.js';

export type MutatingPolicy = MutatingAdmissionPolicy & KubernetesObject;

/** A compiled MutatingAdmissionPolicy. */
export interface CompiledMutations {
  readonly name: string;
  readonly paramKind: { readonly apiVersion?: string; readonly kind?: string } | undefined;
  readonly selection: Selection;
  readonly failsOpen: boolean;
  /** Is asked once more when the object was changed after it. */
  readonly isReinvoked: boolean;
  readonly conditions: readonly RequestExpression[];
  readonly variables: readonly { readonly name: string; readonly expression: RequestExpression }[];
  readonly mutations: readonly CompiledMutation[];
}

export interface CompiledMutation {
  readonly patchType: 'ApplyConfiguration' | 'JSONPatch';
  readonly expression: RequestExpression;
}

const compiled = new WeakMap<object, CompiledMutations>();

export function compileMutations(policy: Readonly<MutatingPolicy>): CompiledMutations {
  const known = compiled.get(policy) ?? compile(policy);
  compiled.set(policy, known);
  return known;
}

function compile({ metadata, spec = {} }: Readonly<MutatingPolicy>): CompiledMutations {
  const { all, type: variables } = compileVariables(spec.variables ?? [], { hasLiterals: true });
  return {
    name: metadata.name,
    paramKind: spec.paramKind,
    selection: compileSelection(spec.matchConstraints ?? {}),
    failsOpen: spec.failurePolicy === 'Ignore',
    isReinvoked: spec.reinvocationPolicy === 'IfNeeded',
    conditions: (spec.matchConditions ?? []).map(({ expression }) => compileRequestExpression(expression)),
    variables: all,
    mutations: (spec.mutations ?? []).map(({ applyConfiguration, jsonPatch, patchType }) => ({
      patchType: patchType === 'JSONPatch' ? 'JSONPatch' : 'ApplyConfiguration',
      expression: compileRequestExpression((applyConfiguration ?? jsonPatch)?.expression ?? '', {
        variables,
        hasLiterals: true,
      }),
    })),
  };
}
