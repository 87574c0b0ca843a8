import { IllegalStateError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { Informer, Lister } from '@rollkeeper/client/informer';
import type { InformerSource } from '../../controller/index.js';
import type { CachedKind } from '../kinds/kinds.js';
import type { ListerOf } from './watched-events.js';

/** The caches that a controller has named, and no others: one that the start does not wait for would be empty at first. */
export class NamedCaches {
  private readonly informers = new Map<string, Informer>();

  constructor(
    private readonly controller: string,
    private readonly source: InformerSource,
  ) {}

  /** @throws IllegalStateError for a second cache of a kind: a lister could be of either */
  informerOf<T extends KubernetesObject>(
    kind: CachedKind<T>,
    { optional = false }: { readonly optional?: boolean } = {},
  ): Informer<T> {
    const { source } = this;
    const informer = kind.part
      ? source.partialInformerFor<T>(kind, { optional })
      : source.informerFor<T>(kind, { optional });
    const name = qualifiedResource(kind);
    if ((this.informers.get(name) ?? informer) !== informer)
      throw new IllegalStateError(`${this.controller} names ${kind.resource} both whole and in part`);
    this.informers.set(name, informer);
    return informer;
  }

  readonly listerOf: ListerOf = <T extends KubernetesObject>(kind: CachedKind<T>): Lister<T> => {
    const informer = this.informers.get(qualifiedResource(kind));
    if (!informer)
      throw new IllegalStateError(
        `${this.controller} caches no ${kind.resource}: name the kind in owns, watches or reads`,
      );
    return informer.lister as Lister<T>;
  };
}
