import type { InformerSource, UnreadableResource } from '../controller/index.js';
import type { Informer, MetadataInformer } from '../informer/index.js';
import type { KubernetesObject, ResourceType } from '../kubernetes/index.js';
import { qualifiedResource } from '../kubernetes/index.js';

/** A cache that a controller cannot do without, as the manager sees it. */
export type NeededInformer = Pick<Informer, 'type' | 'hasSynced' | 'trouble' | 'waitForSync'>;

/** The informers of `source`, noting which a controller asks for while it is built: those it cannot do without. */
export class NotedInformers implements InformerSource {
  readonly needs: NeededInformer[] = [];

  constructor(private readonly source: InformerSource) {}

  informerFor<T extends KubernetesObject>(type: ResourceType): Informer<T> {
    const informer = this.source.informerFor<T>(type);
    const needed = informer as unknown as NeededInformer;
    if (!this.needs.includes(needed)) this.needs.push(needed);
    return informer;
  }

  metadataInformerFor(type: ResourceType): MetadataInformer {
    return this.source.metadataInformerFor(type);
  }
}

/** Those that have never been listed although the server answers, and what it says. */
export function missingOf(needs: readonly NeededInformer[]): UnreadableResource[] {
  return needs.flatMap(({ hasSynced, trouble, type }) =>
    hasSynced || trouble?.code === undefined
      ? []
      : [{ resource: qualifiedResource(type), reason: trouble.reason }],
  );
}
