import type { BuiltController, InformerSource, UnreadableResource } from '../controller/index.js';
import type { Informer, MetadataInformer, PartialType, WholeType } from '@rollkeeper/client/informer';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';

/** A cache that a controller requires, as the manager sees it. */
export type NeededInformer = Pick<
  Informer,
  'type' | 'hasSynced' | 'trouble' | 'waitForSync' | 'waitUntilCurrent'
>;

/** Wraps `source` to record the informers that a controller requests while it is built: those it requires. */
export class NotedInformers implements InformerSource {
  readonly needs: NeededInformer[] = [];
  private readonly asked = new Map<string, Informer>();

  constructor(private readonly source: InformerSource) {}

  informerFor<T extends KubernetesObject>(
    type: WholeType,
    { optional = false }: { readonly optional?: boolean } = {},
  ): Informer<T> {
    return this.noted(this.source.informerFor<T>(type), optional);
  }

  partialInformerFor<T extends KubernetesObject>(
    type: PartialType,
    { optional = false }: { readonly optional?: boolean } = {},
  ): Informer<T> {
    return this.noted(this.source.partialInformerFor<T>(type), optional);
  }

  /** The informer of a qualified resource that the controller has requested. */
  find(resource: string): Informer | undefined {
    return this.asked.get(resource);
  }

  private noted<T extends KubernetesObject>(informer: Informer<T>, optional: boolean): Informer<T> {
    const any = informer as unknown as Informer;
    if (!optional && !this.needs.includes(any)) this.needs.push(any);
    this.asked.set(qualifiedResource(informer.type), any);
    return informer;
  }

  metadataInformerFor(type: ResourceType): MetadataInformer {
    return this.source.metadataInformerFor(type);
  }
}

/** The resources that have never been listed although the server answers, with its answer. */
export function missingOf(needs: readonly NeededInformer[]): UnreadableResource[] {
  return refused(needs.filter(({ hasSynced }) => !hasSynced));
}

/** A controller's view of the API. */
interface Reader {
  readonly built: Pick<BuiltController, 'unreadable'>;
  readonly needs?: readonly NeededInformer[];
}

/** Resources that a controller cannot read at the moment. */
export interface ControllerTroubles {
  /** It does not start before it can read these. */
  readonly waitsFor: readonly UnreadableResource[];
  /** It uses the last known state of these, or works without them. */
  readonly unreadable: readonly UnreadableResource[];
}

export function troublesOf({ built, needs = [] }: Reader): ControllerTroubles {
  const seen = refused(needs.filter(({ hasSynced }) => hasSynced));
  return { waitsFor: missingOf(needs), unreadable: [...seen, ...(built.unreadable?.() ?? [])] };
}

function refused(needs: readonly NeededInformer[]): UnreadableResource[] {
  return needs.flatMap(({ trouble, type }) =>
    trouble?.code === undefined ? [] : [{ resource: qualifiedResource(type), reason: trouble.reason }],
  );
}

/** Each resource that a controller needs, and each other one that it cannot read, once. */
export function* readabilityOf(
  managed: Reader,
): Generator<{ readonly resource: string; readonly isReadable: boolean }> {
  const { unreadable, waitsFor } = troublesOf(managed);
  const bad = new Set([...waitsFor, ...unreadable].map(({ resource }) => resource));
  for (const resource of bad) yield { resource, isReadable: false };
  for (const { type } of managed.needs ?? []) {
    const resource = qualifiedResource(type);
    if (!bad.has(resource)) yield { resource, isReadable: true };
  }
}
