import type { ApiClient } from '@rollkeeper/client/api-client';
import { isConflict, isNotFound } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339Micro } from '@rollkeeper/machinery/clock';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { Lease } from '@rollkeeper/machinery/kubernetes';

/** A Lease that another holder is to take. */
export interface LeaseToTake {
  /** @default 'default' */
  readonly namespace?: string;
  readonly name: string;
  /** The new holder. @default 'faults' */
  readonly holder?: string;
  /** How long it is taken for, unless it is released before, seconds. @default 15 */
  readonly durationSeconds?: number;
}

/** A Lease that another holder has taken. */
export interface TakenLease {
  /** Makes it free. */
  release(): Promise<void>;
}

type Place = { readonly namespace: string; readonly name: string };

/** Leases of `coordination.k8s.io` that another holder has taken from the client under test. */
export class TakenLeases {
  private readonly taken = new Map<string, { readonly place: Place; readonly holder: string }>();

  constructor(
    private readonly client: ApiClient,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /**
   * The present holder finds the other one at its next renewal.
   * @throws InvalidOptionError if there is no such lease
   */
  async take({
    durationSeconds = 15,
    holder = 'faults',
    name,
    namespace = 'default',
  }: LeaseToTake): Promise<TakenLease> {
    const place = { namespace, name };
    await this.change(place, (lease) => {
      const now = toRfc3339Micro(this.clock.now());
      lease.spec = {
        ...lease.spec,
        holderIdentity: holder,
        leaseDurationSeconds: durationSeconds,
        acquireTime: now,
        renewTime: now,
        leaseTransitions: (lease.spec?.leaseTransitions ?? 0) + 1,
      };
    });
    this.taken.set(`${namespace}/${name}`, { place, holder });
    return { release: () => this.release(place, holder) };
  }

  async releaseAll(): Promise<void> {
    for (const { holder, place } of [...this.taken.values()]) await this.release(place, holder);
  }

  private async release(place: Place, holder: string): Promise<void> {
    this.taken.delete(`${place.namespace}/${place.name}`);
    await this.change(place, (lease) => {
      if (lease.spec?.holderIdentity === holder) lease.spec = { ...lease.spec, holderIdentity: '' };
    });
  }

  /** The holder renews all the while: another write between reading and writing means to read again. */
  private async change(place: Place, edit: (lease: Lease) => void): Promise<void> {
    for (;;) {
      try {
        const lease = await this.client.get<Lease>(Lease, place);
        edit(lease);
        await this.client.update<Lease>(Lease, lease);
        return;
      } catch (error) {
        if (isNotFound(error))
          throw new InvalidOptionError('name', `there is no lease ${place.namespace}/${place.name}`, {
            cause: error,
          });
        if (!isConflict(error)) throw error;
      }
    }
  }
}
