import type { ServerResponse } from 'node:http';
import type { ObjectShard } from '../../src/client/api-client/index.js';

/** The watchers that ask for the same shard, and the lines that they have not been sent. */
interface Group {
  readonly shard: ObjectShard | undefined;
  readonly responses: Set<ServerResponse>;
  waiting: string[];
}

/** The watchers of one kind. A line is joined to others once for all watchers of a shard, and its shards are looked up by its namespace. */
export class LightWatchers {
  private readonly groups = new Map<string, Group>();
  private readonly ofNamespace = new Map<string, readonly Group[]>();
  /** The sum of all that was written to watchers. */
  bytes = 0;

  get size(): number {
    return [...this.groups.values()].reduce((sum, { responses }) => sum + responses.size, 0);
  }

  /** Sends it everything that is pushed from now on, until it is closed. */
  add(shard: ObjectShard | undefined, response: ServerResponse): void {
    const selector = shard?.selector ?? '';
    let group = this.groups.get(selector);
    if (!group) {
      group = { shard, responses: new Set(), waiting: [] };
      this.groups.set(selector, group);
      this.ofNamespace.clear();
    }
    const { responses } = group;
    responses.add(response);
    response.on('close', () => responses.delete(response));
  }

  /** Keeps a line for those who watch its namespace, until {@link flush}. */
  push(namespace: string, line: string): void {
    for (const group of this.groupsOf(namespace)) if (group.responses.size > 0) group.waiting.push(line);
  }

  flush(): void {
    for (const group of this.groups.values()) {
      if (group.waiting.length === 0) continue;
      const text = Buffer.from(group.waiting.join(''));
      group.waiting = [];
      for (const response of group.responses) this.write(response, text);
    }
  }

  /** Sends a line to all at once; those who are sent the last line are not sent anything afterwards. */
  tellAll(line: string, { isLast = false }: { readonly isLast?: boolean } = {}): void {
    for (const { responses } of this.groups.values())
      for (const response of [...responses]) {
        this.write(response, line);
        if (!isLast) continue;
        responses.delete(response);
        response.end();
      }
  }

  write(response: ServerResponse, text: Buffer | string): void {
    this.bytes += text.length;
    response.write(text);
  }

  private groupsOf(namespace: string): readonly Group[] {
    const known = this.ofNamespace.get(namespace);
    if (known) return known;
    const found = [...this.groups.values()].filter(({ shard }) => shard?.includesValue(namespace) ?? true);
    this.ofNamespace.set(namespace, found);
    return found;
  }
}
