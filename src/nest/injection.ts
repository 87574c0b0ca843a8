import 'reflect-metadata';
import type { Provider, Type } from '@nestjs/common';
import { Inject } from '@nestjs/common';
import type { Kind } from '@rollkeeper/runtime';
import { ControllerManager, qualifiedResource } from '@rollkeeper/runtime';
import { storedBy } from './stored-metadata.js';

const LISTERS = Symbol('rollkeeper:listers');
const API_CLIENT = Symbol('rollkeeper:ApiClient');

/** The injection token of a kind's cache. Tests override it. */
export function listerToken(kind: Kind): string {
  return `rollkeeper:Lister(${qualifiedResource(kind)})`;
}

/**
 * Injects the cache of a kind, a `Lister<T>`, into a class of `RollkeeperModule.forFeature`, and makes the manager fill
 * it before the first key is reconciled. Within a sync, `context.lister` is the same cache.
 */
export function InjectLister(kind: Kind): ParameterDecorator & PropertyDecorator {
  return (target: object, key: string | symbol | undefined, index?: number) => {
    // A parameter decorator gets the class, a property decorator its prototype.
    const owner = typeof target === 'function' ? target : target.constructor;
    Reflect.defineMetadata(LISTERS, [...injectedKinds(owner), kind], owner);
    Inject(listerToken(kind))(target, key, index as number);
  };
}

/**
 * Injects the manager's `ApiClient`, for work outside of syncs. Within a sync, write with `context.client`: it stops
 * writing when the key's lock is lost.
 */
export function InjectApiClient(): ParameterDecorator & PropertyDecorator {
  return Inject(API_CLIENT);
}

export const apiClientProvider: Provider = {
  provide: API_CLIENT,
  inject: [ControllerManager],
  useFactory: ({ client }: ControllerManager) => client,
};

/** Providers for the caches that the classes inject. */
export function listerProviders(classes: readonly Type[]): Provider[] {
  const kinds = new Map(classes.flatMap(injectedKinds).map((kind) => [listerToken(kind), kind]));
  return [...kinds].map(([provide, kind]) => ({
    provide,
    inject: [ControllerManager],
    useFactory: (manager: ControllerManager) => manager.lister(kind),
  }));
}

/** The kinds whose caches a class injects. */
export function injectedKinds(owner: object): readonly Kind[] {
  return storedBy<readonly Kind[]>(LISTERS, owner) ?? [];
}
