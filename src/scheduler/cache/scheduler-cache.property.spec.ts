import { SeededRandom } from '@rollkeeper/machinery/clock';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { WorldDraws } from '../decide/random-world.fixture.js';
import type { ReadableNode, ReadablePod, Snapshot } from '../framework/node-info.js';
import { podInfoOf } from '../node/pod-info.js';
import { SchedulerCache } from './scheduler-cache.js';

/**
 * After any changes the snapshot equals that of a new cache with the same nodes and pods, and every snapshot taken before is as it
 * was.
 */
it('a snapshot shows nodes and pods as they are, after any history', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) => {
      const history = new History(seed);
      const taken: { readonly snapshot: Snapshot; readonly shown: unknown }[] = [];
      for (let step = 0; step < 60; step++) {
        history.change();
        if (step % 3 !== 0) continue;
        const snapshot = history.cache.snapshot();
        expect(shown(snapshot)).toEqual(shown(history.rebuilt()));
        taken.push({ snapshot, shown: shown(snapshot) });
      }
      // Snapshots share one thing, the nodes that have an image. It changes with the nodes.
      for (const { shown: before, snapshot } of taken)
        expect(withoutImages(shown(snapshot))).toEqual(withoutImages(before));
    }),
  );
});

class History {
  readonly cache = new SchedulerCache();
  private readonly random: SeededRandom;
  private readonly draws: WorldDraws;
  private readonly nodes = new Map<string, ReadableNode>();
  private readonly placed = new Map<string, { readonly pod: ReadablePod; readonly node: string }>();
  private readonly assumed = new Set<string>();

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.draws = new WorldDraws(this.random);
  }

  change(): void {
    const name = this.draws.oneOf(['a', 'b', 'c', 'd']);
    const known = this.draws.oneOf([...this.placed.keys(), undefined]);
    this.draws.oneOf([
      () => this.setNode(name),
      () => this.removeNode(name),
      () => this.setPod(this.draws.pod(name), name),
      () => this.assume(this.draws.pod(), name),
      () => known && this.removePod(known),
      () => known && this.confirm(known),
      () => known && this.forget(known),
      () => known && this.show(known),
    ])();
  }

  rebuilt(): Snapshot {
    const cache = new SchedulerCache();
    for (const node of this.nodes.values()) cache.setNode(node);
    for (const { node, pod } of this.placed.values()) cache.assume(podInfoOf(pod), node);
    return cache.snapshot();
  }

  private setNode(name: string): void {
    const node = this.draws.node(name);
    this.nodes.set(name, node);
    this.cache.setNode(node);
  }

  private removeNode(name: string): void {
    this.nodes.delete(name);
    this.cache.removeNode(name);
  }

  private setPod(pod: ReadablePod, node: string): void {
    this.placed.set(podInfoOf(pod).key, { pod, node });
    this.cache.setPod(pod);
  }

  private assume(pod: ReadablePod, node: string): void {
    const info = podInfoOf(pod);
    this.placed.set(info.key, { pod, node });
    this.assumed.add(info.key);
    this.cache.assume(info, node);
  }

  private removePod(key: string): void {
    this.placed.delete(key);
    this.assumed.delete(key);
    this.cache.removePod(key);
  }

  private confirm(key: string): void {
    this.assumed.delete(key);
    this.cache.confirm(key);
  }

  private forget(key: string): void {
    if (this.assumed.delete(key)) this.placed.delete(key);
    this.cache.forget(key);
  }

  /** The informer tells of the pod: on its node, or (late) from before it was placed. */
  private show(key: string): void {
    const { node, pod } = this.placed.get(key)!;
    if (this.random.next() < 0.5) {
      this.cache.setPod({ ...pod, spec: { ...pod.spec, nodeName: undefined } });
      return;
    }
    const bound = { ...pod, spec: { ...pod.spec, nodeName: node } };
    this.assumed.delete(key);
    this.setPod(bound, node);
  }
}

interface Shown {
  readonly nodes: readonly { readonly images: unknown }[];
}

function withoutImages(all: unknown): unknown {
  const { nodes, ...rest } = all as Shown;
  return { ...rest, nodes: nodes.map(({ images: _images, ...node }) => node) };
}

/** Nodes by name: their order depends on which zone was there first. */
function shown(snapshot: Snapshot): unknown {
  const names = (nodes: Snapshot['nodes']): string[] => nodes.map(({ name }) => name).sort();
  return {
    withAffinity: names(snapshot.withAffinity),
    withRequiredAntiAffinity: names(snapshot.withRequiredAntiAffinity),
    claimUsers: snapshot.claimUsers('default/data'),
    nodes: snapshot.nodes
      .map((node) => ({
        name: node.name,
        found: snapshot.get(node.name) === node,
        pods: node.pods.map(({ key }) => key).sort(),
        // Resources that the last pod took may be left as zero.
        requested: [...node.requested].filter(([, amount]) => amount !== 0).sort(),
        nonZeroRequested: node.nonZeroRequested,
        hostPorts: node.hostPorts.map(({ port }) => port).sort(),
        allocatable: [...node.allocatable].sort(),
        images: [...node.images].map(([name, { nodes }]) => [name, nodes]).sort(),
      }))
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}
