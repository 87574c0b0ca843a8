import 'reflect-metadata';
import type { Provider, Type } from '@nestjs/common';
import { Inject } from '@nestjs/common';
import type { Kind } from '@rollkeeper/runtime';
import { ControllerManager, qualifiedResource } from '@rollkeeper/runtime';

const LISTERS = Symbol('rollkeeper:listers');
const API_CLIENT = Symbol('rollkeeper:ApiClient');

/** The token of a kind's cache, for tests that put another one in its place. */
export function listerToken(kind: Kind): string {
  return `rollkeeper:Lister(${qualifiedResource(kind)})`;
}

/**
 * Injects the cache of a kind, a `Lister<T>`, into a class of `RollkeeperModule.forFeature`, and makes the manager fill it. It is
 * filled when the first key is worked on. Within a sync `context.lister` is the same cache.
 */
export function InjectLister(kind: Kind): ParameterDecorator & PropertyDecorator {
  return (target: object, key: string | symbol | undefined, index?: number) => {
    // Of a parameter of the constructor the target is the class, of a property its prototype.
    const owner = typeof target === 'function' ? target : target.constructor;
    Reflect.defineMetadata(LISTERS, [...listersOf(owner), kind], owner);
    Inject(listerToken(kind))(target, key as string, index as number);
  };
}

/**
 * Injects the `ApiClient` of the manager, for what is done outside of syncs. Within one `context.client` is the one to write
 * with: only that stops writing with the key's lock.
 */
export function InjectApiClient(): ParameterDecorator & PropertyDecorator {
  return Inject(API_CLIENT);
}

export const apiClientProvider: Provider = {
  provide: API_CLIENT,
  inject: [ControllerManager],
  useFactory: ({ client }: ControllerManager) => client,
};

/** The caches that the classes have injected. */
export function listerProviders(classes: readonly Type[]): Provider[] {
  const kinds = new Map(classes.flatMap(listersOf).map((kind) => [listerToken(kind), kind]));
  return [...kinds].map(([provide, kind]) => ({
    provide,
    inject: [ControllerManager],
    useFactory: (manager: ControllerManager) => manager.lister(kind),
  }));
}

function listersOf(owner: object): readonly Kind[] {
  return (Reflect.getMetadata(LISTERS, owner) as readonly Kind[] | undefined) ?? [];
}
