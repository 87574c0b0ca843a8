import { keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ReadableNode } from '../../framework/node-info.js';
import type { ClusterView } from '../../framework/cluster-view.js';
import type { AllocatedDevices } from './allocated-devices.js';
import { deviceKey } from './allocated-devices.js';
import type { ConstraintTracker } from './pick-limits.js';
import { trackerOf } from './pick-limits.js';
import { Counters } from './pick-limits.js';
import type { DeviceMatcher } from './device-matcher.js';
import { isTainted } from './device-matcher.js';
import type { Alternative, CompiledRequest } from './device-requests.js';
import { MOST_DEVICES, compileRequests } from './device-requests.js';
import type { PooledCandidate } from './gather-pools.js';
import { gatherPools } from './gather-pools.js';
import type { ReadableClaim, ReadableSlice } from './resource-api.js';
import type { Consumed } from './shared-capacity.js';
import { SharedCapacity } from './shared-capacity.js';

/** The devices that a claim gets on a node. */
export interface ClaimAllocation {
  readonly claim: ReadableClaim;
  readonly node: string;
  readonly devices: readonly PickedDevice[];
  /** For each request the alternative that was taken, by its place. */
  readonly taken: readonly number[];
  readonly requests: readonly CompiledRequest[];
}

export interface PickedDevice extends PooledCandidate {
  readonly alternative: Alternative;
  /** Set for a device that can be shared. */
  readonly consumed?: Consumed;
}

interface AllocationInput {
  readonly claims: readonly ReadableClaim[];
  readonly node: ReadableNode;
  readonly slices: readonly ReadableSlice[];
  readonly allocated: AllocatedDevices;
  readonly matcher: DeviceMatcher;
  readonly view: ClusterView;
}

/**
 * Finds devices for all claims on the node: the first solution in the order of alternatives and devices, by trying all combinations.
 * @returns undefined where there is none
 * @throws Error where a claim cannot be allocated on any node
 */
export function allocateClaims(input: AllocationInput): readonly ClaimAllocation[] | undefined {
  return new Search(input).run();
}

interface ClaimSearch {
  readonly claim: ReadableClaim;
  readonly requests: readonly CompiledRequest[];
  readonly constraints: readonly ConstraintTracker[];
  readonly picked: PickedDevice[];
  readonly taken: number[];
}

class Search {
  private readonly claims: readonly ClaimSearch[];
  private readonly candidates: readonly PooledCandidate[];
  private readonly counters: Counters;
  private readonly capacity: SharedCapacity;
  /** Devices that are picked whole, with the claims that have them. */
  private readonly picked = new Map<string, Set<ClaimSearch>>();

  constructor(private readonly input: AllocationInput) {
    const { allocated, claims, matcher, node, slices, view } = input;
    const pools = gatherPools(slices, node);
    this.counters = new Counters(allocated);
    this.capacity = new SharedCapacity(allocated);
    this.candidates = pools
      .filter(({ isIncomplete, isInvalid }) => !isIncomplete && !isInvalid)
      .flatMap((pool) => pool.devices.map((pooled) => ({ ...pooled, pool })));
    this.claims = claims.map((claim) => ({
      claim,
      requests: compileRequests({ claim, pools, view, matcher }),
      constraints: (claim.spec.devices?.constraints ?? []).map(trackerOf),
      picked: [],
      taken: [],
    }));
    this.claims.forEach(checkSize);
  }

  run(): readonly ClaimAllocation[] | undefined {
    if (!this.fromClaim(0)) return undefined;
    const node = this.input.node.metadata.name;
    return this.claims.map(({ claim, picked, requests, taken }) => ({
      claim,
      node,
      requests,
      devices: [...picked],
      taken: [...taken],
    }));
  }

  private fromClaim(index: number): boolean {
    const search = this.claims[index];
    return search === undefined || this.fromRequest(search, index, 0);
  }

  private fromRequest(search: ClaimSearch, claimIndex: number, index: number): boolean {
    const request = search.requests[index];
    if (!request) return this.fromClaim(claimIndex + 1);
    return request.alternatives.some((alternative, place) => {
      if (alternative.all?.length === 0) return false;
      if (search.picked.length + alternative.count > MOST_DEVICES) return false;
      search.taken[index] = place;
      const rest = (): boolean => this.fromRequest(search, claimIndex, index + 1);
      return alternative.all
        ? this.takeAll(search, alternative, { all: alternative.all, place: 0 }, rest)
        : this.takeSome(search, alternative, { left: alternative.count, from: 0 }, rest);
    });
  }

  /** Tries combinations, not orders: devices of one request are interchangeable. */
  private takeSome(
    search: ClaimSearch,
    alternative: Alternative,
    { from, left }: { readonly left: number; readonly from: number },
    rest: () => boolean,
  ): boolean {
    if (left === 0) return rest();
    for (let place = from; place < this.candidates.length; place++) {
      const candidate = this.candidates[place]!;
      if (!this.input.matcher.matches(candidate, alternative, search.claim)) continue;
      const giveBack = this.take(search, alternative, candidate);
      if (!giveBack) continue;
      if (this.takeSome(search, alternative, { left: left - 1, from: place + 1 }, rest)) return true;
      giveBack();
    }
    return false;
  }

  private takeAll(
    search: ClaimSearch,
    alternative: Alternative,
    { all, place }: { readonly all: readonly PooledCandidate[]; readonly place: number },
    rest: () => boolean,
  ): boolean {
    const candidate = all[place];
    if (!candidate) return rest();
    const giveBack = this.take(search, alternative, candidate, true);
    if (!giveBack) return false;
    if (this.takeAll(search, alternative, { all, place: place + 1 }, rest)) return true;
    giveBack();
    return false;
  }

  /**
   * @param must the request wants just this device: a constraint that forbids it can never be met
   * @returns how to undo it; undefined where the device cannot be had
   */
  private take(
    search: ClaimSearch,
    alternative: Alternative,
    candidate: PooledCandidate,
    must = false,
  ): (() => void) | undefined {
    const { device, pool } = candidate;
    const { names, wanted } = alternative;
    const key = deviceKey(pool.driver, pool.name, device.name);
    const isShared = device.allowMultipleAllocations === true;
    if (this.isTaken(key, search, wanted.adminAccess === true) || isTainted(candidate, wanted))
      return undefined;
    const consumed = this.capacity.consumptionOf(key, device, wanted);
    if (!consumed) return undefined;
    const countsCounters = !isShared || !this.capacity.isShared(key);
    if (countsCounters && !this.counters.take(pool, device)) return undefined;
    const undoConstraints = this.constrain(search, names, candidate, must);
    if (!undoConstraints) {
      if (countsCounters) this.counters.giveBack(pool, device);
      return undefined;
    }
    if (isShared) this.capacity.take(key, consumed);
    else this.holders(key).add(search);
    search.picked.push({ ...candidate, alternative, ...(isShared && { consumed }) });
    return () => {
      search.picked.pop();
      if (isShared) this.capacity.giveBack(key, consumed);
      else this.holders(key).delete(search);
      undoConstraints();
      if (countsCounters) this.counters.giveBack(pool, device);
    };
  }

  private constrain(
    { claim, constraints }: ClaimSearch,
    names: readonly string[],
    { device, pool }: PooledCandidate,
    must: boolean,
  ): (() => void) | undefined {
    for (const [index, constraint] of constraints.entries()) {
      if (constraint.add(names, device, pool.driver)) continue;
      for (const before of constraints.slice(0, index)) before.remove(names);
      if (must)
        throw new Error(
          `claim ${keyOf(claim.metadata)}, request ${names[0] ?? ''}: cannot add device ${deviceKey(pool.driver, pool.name, device.name)} because a claim constraint would not be satisfied`,
        );
      return undefined;
    }
    return () => {
      for (const constraint of constraints) constraint.remove(names);
    };
  }

  /** An administrator may have a device that others use, but not twice in one claim. */
  private isTaken(key: string, search: ClaimSearch, isAdmin: boolean): boolean {
    if (isAdmin) return this.holders(key).has(search);
    return this.input.allocated.whole.has(key) || this.holders(key).size > 0;
  }

  private holders(key: string): Set<ClaimSearch> {
    let holders = this.picked.get(key);
    if (!holders) this.picked.set(key, (holders = new Set()));
    return holders;
  }
}

function checkSize({ claim, requests }: ClaimSearch): void {
  const least = requests.reduce(
    (sum, { alternatives }) => sum + Math.min(...alternatives.map(({ count }) => count)),
    0,
  );
  if (least > MOST_DEVICES)
    throw new Error(
      `claim ${keyOf(claim.metadata)}: number of requested devices ${least} exceeds the claim limit of ${MOST_DEVICES}`,
    );
}
