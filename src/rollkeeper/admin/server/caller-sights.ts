import { ForbiddenException, Inject, Injectable } from '@nestjs/common';
import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { ExpiringMap } from '@rollkeeper/machinery/clock';
import { Deployment } from '@rollkeeper/machinery/kubernetes';
import { mayList } from '../delegated-access/index.js';
import { AdminPorts } from './admin-ports.js';
import type { CallerApi } from './caller-client.js';

/** The namespaces whose rollouts a caller sees. */
export interface Sight {
  sees(namespace: string): Promise<boolean>;
}

const EVERYTHING: Sight = { sees: async () => true };
const ALL_NAMESPACES = '';
/** An answer counts for this time, milliseconds: a right that was taken away ends within it. */
const COUNTS_MS = 30_000;

/**
 * The part of this replica's own caches that users of the cluster see: rollouts of the namespaces whose Deployments
 * they may list. Holders of the admin token and local users see all.
 */
@Injectable()
export class CallerSights {
  /** By the client of a token, which is the same as long as the token is in use. */
  private readonly known = new WeakMap<ApiClient, Sight>();

  constructor(@Inject(AdminPorts) private readonly ports: AdminPorts) {}

  of({ client, user }: CallerApi): Sight {
    if (user === undefined) return EVERYTHING;
    const sight = this.known.get(client) ?? new ReviewedSight(client, this.ports.clock);
    this.known.set(client, sight);
    return sight;
  }

  /**
   * @param namespace empty: all of them
   * @throws ForbiddenException
   */
  async assertSees(caller: CallerApi, namespace: string): Promise<void> {
    if (await this.of(caller).sees(namespace)) return;
    const where = namespace === ALL_NAMESPACES ? 'all namespaces' : namespace;
    throw new ForbiddenException({ error: `${caller.user ?? ''} may not list Deployments of ${where}` });
  }
}

/** Asks the API itself, namespace by namespace, and remembers its answers for a while. */
class ReviewedSight implements Sight {
  private readonly answers: ExpiringMap<Promise<boolean>>;

  constructor(
    private readonly client: Pick<ApiClient, 'create'>,
    clock: Pick<Clock, 'monotonicNow'>,
  ) {
    this.answers = new ExpiringMap(() => clock.monotonicNow(), COUNTS_MS);
  }

  async sees(namespace: string): Promise<boolean> {
    if (await this.ask(ALL_NAMESPACES)) return true;
    return namespace !== ALL_NAMESPACES && this.ask(namespace);
  }

  private ask(namespace: string): Promise<boolean> {
    const known = this.answers.get(namespace);
    if (known) return known;
    const allowed = mayList(this.client, Deployment, namespace).catch(() => {
      // Without an answer nothing is shown, and it is asked again.
      this.answers.delete(namespace);
      return false;
    });
    this.answers.set(namespace, allowed, COUNTS_MS);
    return allowed;
  }
}
