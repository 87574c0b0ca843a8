import type { LeaseState, Replica } from './lease.state.js';

/** Larger gaps between two epochs make no difference: each step adds one. */
const WIDEST_GAP = 3;

/**
 * States that differ in nothing but names have one text: the two replicas are alike, processes are new after a kill, times
 * of an acquisition are only compared for equality, and epochs by their order and for being next.
 */
export function leaseFingerprint(state: LeaseState): string {
  const [first, second] = state.replicas;
  const epochs = epochsOf(state);
  const one = encode(state, [first, second], epochs);
  const other = encode(state, [second, first], epochs);
  return one < other ? one : other;
}

function encode(
  state: LeaseState,
  replicas: readonly [Replica, Replica],
  epochs: ReadonlyMap<number, number>,
): string {
  const { before, faultsLeft, hasLost, held, late, queueTerm, wrong } = state;
  const name = namer(replicas.map(({ identity }) => identity));
  const time = namer([]);
  const epoch = (value: number): number => epochs.get(value) ?? 0;
  const lease = (kept: LeaseState['held']): unknown =>
    kept && [
      name(kept.record.holderIdentity),
      epoch(kept.record.leaderTransitions),
      time(kept.record.acquireTime),
      kept.expiresAtMs,
    ];
  const replica = ({
    epochAbove,
    isPaused,
    isSlow,
    last,
    request,
    term,
    wasInterrupted,
    work,
  }: Replica): unknown => [
    term && [epoch(term.epoch), time(term.acquireTime), term.renewedAtMs, wasInterrupted],
    last && [
      last.result,
      last.sentAtMs,
      last.endedAtMs,
      last.remainingMs,
      last.epoch && epoch(last.epoch),
      last.acquireTime && term && time(last.acquireTime),
    ],
    request && [
      request.sentAtMs,
      request.timeoutMs,
      request.answer && [
        request.answer.outcome,
        lease({ record: request.answer.record, expiresAtMs: 0 }),
        request.answer.isAfterInterruption,
      ],
    ],
    work && [epoch(work.epoch), work.hasBegun],
    epoch(epochAbove),
    isPaused,
    faultsLeft > 0 && isSlow,
  ];
  return JSON.stringify([
    replicas.map(replica),
    lease(held),
    faultsLeft > 0 && lease(before),
    late && [name(late.identity), epoch(late.epochAbove)],
    queueTerm && [epoch(queueTerm.epoch), name(queueTerm.holder)],
    faultsLeft,
    hasLost,
    wrong,
  ]);
}

/** Numbers texts in the order in which they are met. */
function namer(known: readonly string[]): (text: string) => number {
  const all = [...known];
  return (text) => {
    const index = all.indexOf(text);
    return index >= 0 ? index : all.push(text) - 1;
  };
}

function epochsOf({ before, held, late, queueTerm, replicas }: LeaseState): ReadonlyMap<number, number> {
  const all = new Set([0, 1]);
  for (const lease of [held, before]) if (lease) all.add(lease.record.leaderTransitions);
  if (late) all.add(late.epochAbove);
  if (queueTerm) all.add(queueTerm.epoch);
  for (const { epochAbove, last, request, term, work } of replicas)
    for (const epoch of [
      epochAbove,
      last?.epoch,
      request?.answer?.record.leaderTransitions,
      term?.epoch,
      work?.epoch,
    ])
      if (epoch !== undefined) all.add(epoch);
  const renamed = new Map<number, number>();
  let previous = 0;
  let shown = 0;
  for (const epoch of [...all].sort((a, b) => a - b)) {
    shown += Math.min(epoch - previous, WIDEST_GAP);
    previous = epoch;
    renamed.set(epoch, shown);
  }
  return renamed;
}
