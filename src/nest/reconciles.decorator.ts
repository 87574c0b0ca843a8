import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import type {
  ControllerChoices,
  ControllerDefinition,
  ControllerTraits,
  DecidingReconciler,
  Kind,
  KubernetesObject,
  PolicyRule,
  Reconciler,
} from '@rollkeeper/runtime';
import { RIGHTS, defineController, workOf } from '@rollkeeper/runtime';
import { injectedKinds } from './injection.js';
import { storedBy } from './stored-metadata.js';

const METADATA = Symbol('rollkeeper:reconciles');

/** The options of {@link Reconciles}: what else wakes the controller, and how it works. */
export type ReconcilesOptions<T extends KubernetesObject> = ControllerChoices<T> &
  Omit<ControllerTraits<T>, 'for' | 'name'> & {
    /** Names the queue, spans, metrics and log lines. @default the class's name with hyphens: `office-hours` of OfficeHours */
    readonly name?: string;
  };

type Declared = ControllerTraits & ControllerChoices;

/**
 * Makes an injectable class the controller of a kind. It runs once it is a provider of `RollkeeperModule.forFeature`,
 * or of any module beside `RollkeeperModule.forRoot`.
 * @example
 * ```ts
 * @Reconciles(Deployment, { owns: [ReplicaSet], workers: 5 })
 * export class OfficeHours implements Reconciler<Deployment> {
 *   async reconcile(request: ReconcileRequest, context: ReconcileContext<Deployment>) { … }
 * }
 * ```
 * A class that `implements DecidingReconciler<Deployment, Seen, Plan>` has `observe`, `decide` and `act` in place of `reconcile`.
 */
export function Reconciles<T extends KubernetesObject>(kind: Kind<T>, options: ReconcilesOptions<T> = {}) {
  return <Target extends abstract new (...args: never[]) => Reconciler<T> | DecidingReconciler<T>>(
    target: Target,
  ): void => {
    const declared = { name: hyphenated(target.name), ...options, for: kind };
    Injectable()(target);
    Reflect.defineMetadata(METADATA, declared, target);
    Object.defineProperty(target, RIGHTS, { value: () => rightsOfClass(declared, target) });
  };
}

/** For `rollkeeper generate rbac`: of a class that is not constructed, what it declares and which caches it injects. */
function rightsOfClass<T extends KubernetesObject>(
  declared: ControllerTraits<T> & ControllerChoices<T>,
  target: abstract new (...args: never[]) => Reconciler<T> | DecidingReconciler<T>,
): readonly PolicyRule[] {
  const reads = [...(declared.reads ?? []), ...injectedKinds(target)];
  const { [RIGHTS]: rights } = defineController({
    ...declared,
    reads,
    ...workOf(target.prototype as Reconciler<T>),
  });
  return rights?.() ?? [];
}

/** A provider for a controller defined without Nest. */
export class DefinedController {
  constructor(readonly definition: ControllerDefinition) {}
}

/** The controller that a provider defines, if its class is decorated. @throws InvalidOptionError naming the option */
export function controllerOfProvider(instance: unknown): ControllerDefinition | undefined {
  if (typeof instance !== 'object' || instance === null) return undefined;
  if (instance instanceof DefinedController) return instance.definition;
  const declared = storedBy<Declared>(METADATA, instance.constructor);
  if (!declared) return undefined;
  return defineController({ ...declared, ...workOf(instance as DecidingReconciler) });
}

function hyphenated(className: string): string {
  return className
    .replace(/(Controller|Reconciler)$/, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase();
}
