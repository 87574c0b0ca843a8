import type { UserInfo } from '../auth/index.js';
import { nodeOfUser } from '../auth/index.js';
import type { AccessAttributes } from '../../cel/library/access-attributes.js';
import { FollowedResources } from '../../storage/index.js';
import type { FollowDependencies, Storage } from '../../storage/index.js';
import type { AccessDecision } from './decide-access.js';
import { decideNodeAccess } from './decide-node-access.js';
import { NodeGraph, RELATING_RESOURCES } from './node-graph.js';
import type { PolicyRule } from './policy-rule.js';

/**
 * Decides for kubelets. What their nodes need is read, and followed, from the first question about one of them on: a cluster whose
 * nodes have no users of their own keeps nothing of it in memory.
 */
export class NodeAccess {
  private graph = new NodeGraph();
  private isRead = false;
  private reading: Promise<void> | undefined;
  private following: Promise<void> = Promise.resolve();
  private signal: AbortSignal | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly dependencies: FollowDependencies,
    /** The rules that hold for every kubelet. */
    private readonly rules: readonly PolicyRule[],
  ) {}

  /** Until `signal` aborts, questions may be asked. Reads nothing yet. */
  begin(signal: AbortSignal): void {
    this.signal = signal;
  }

  /** To be awaited before a question about a user. Absent: it may be asked at once. */
  ready(user: UserInfo): Promise<void> | undefined {
    if (nodeOfUser(user) === undefined || !this.signal || this.isRead) return undefined;
    this.reading ??= this.read(this.signal).finally(() => (this.reading = undefined));
    return this.reading;
  }

  /** @returns undefined for a user who is no kubelet */
  decide(user: UserInfo, asked: AccessAttributes): AccessDecision | undefined {
    const node = nodeOfUser(user);
    if (node === undefined) return undefined;
    return decideNodeAccess(node, user.username, asked, { relations: this.graph, rules: this.rules });
  }

  /** Resolves when nothing is followed any more. */
  ended(): Promise<void> {
    return this.following;
  }

  private async read(signal: AbortSignal): Promise<void> {
    const graph = new NodeGraph();
    const followed = new FollowedResources(this.storage, this.dependencies);
    for (const resource of RELATING_RESOURCES)
      followed.of(resource).onChange((key, object) => graph.put(key, object));
    await followed.load();
    this.graph = graph;
    this.isRead = true;
    this.following = followed.run(signal);
  }
}
