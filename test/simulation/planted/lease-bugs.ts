import type { ModelBug } from './planted-bug.js';

const STEP = 'src/runtime/leader-election/decide-lease-step.ts';
const TERM = 'src/runtime/leader-election/decide-term.ts';
const STORE = 'src/runtime/leader-election/memory-resource-lock.ts';
const FENCE = 'src/runtime/work-queue/term-fence.ts';

export const LEASE_BUGS: readonly ModelBug[] = [
  {
    name: 'no-margin-for-clocks',
    breaks: 'A leader trusts its lease until the very end, so that a slow clock makes two leaders',
    model: 'lease',
    withinFaults: 2,
    file: STEP,
    from: 'return renewedAtMs + options.renewDeadlineMs;',
    to: 'return renewedAtMs + options.leaseDurationMs;',
  },
  {
    name: 'won-term-counts-from-its-answer',
    breaks: 'A term counts from when its answer came, and not from when the lease was asked for',
    model: 'lease',
    withinFaults: 2,
    file: TERM,
    from: 'return { epoch, acquireTime, renewedAtMs: sentAtMs };',
    to: 'return { epoch, acquireTime, renewedAtMs: nowMs };',
  },
  {
    name: 'interruption-unnoticed',
    breaks: 'A leader does not notice that its store has lost the lease in between',
    model: 'lease',
    withinFaults: 1,
    file: STEP,
    from: "return last.result === 'acquired' || last.epoch !== term.epoch || last.acquireTime !== term.acquireTime;",
    to: 'return last.epoch !== term.epoch;',
  },
  {
    name: 'lease-taken-from-its-holder',
    breaks: 'The store gives the lease to every replica that asks',
    model: 'lease',
    withinFaults: 0,
    file: STORE,
    from: "const isFree = holder === '' || holder === identity;",
    to: 'const isFree = holder !== undefined || holder === identity;',
  },
  {
    name: 'lease-never-expires',
    breaks: 'The lease of a killed leader never expires',
    model: 'lease',
    withinFaults: 1,
    file: STORE,
    from: 'held && held.expiresAtMs > nowMs ?',
    to: 'held && held.expiresAtMs > nowMs - Number.MAX_SAFE_INTEGER ?',
  },
  {
    name: 'one-epoch-for-two-holders',
    breaks: 'A term begins in the queue although another holder has begun one of the same epoch',
    model: 'lease',
    withinFaults: 2,
    file: FENCE,
    from: 'return current.epoch < epoch || (current.epoch === epoch && current.holder === holder);',
    to: 'return current.epoch <= epoch || current.holder === holder;',
  },
  {
    name: 'older-term-begins',
    breaks: 'A term begins in the queue after a newer one',
    model: 'lease',
    withinFaults: 1,
    file: FENCE,
    from: 'if (!current) return true;',
    to: 'if (!current || current.holder !== holder) return true;',
  },
  {
    name: 'term-not-checked',
    breaks: 'The queue accepts adds of a former leader',
    model: 'lease',
    withinFaults: 2,
    file: FENCE,
    from: 'return current?.epoch === epoch && current.holder === holder;',
    to: 'return current !== undefined || epoch < 0 || holder === undefined;',
  },
  {
    name: 'refusal-forgotten',
    breaks: 'A leader whose term the queue refuses asks for no higher epoch, and is refused forever',
    model: 'lease',
    withinFaults: 2,
    file: TERM,
    from: "return Math.max(before, by === 'own-term' ? epoch - 1 : epoch);",
    to: "return Math.max(before, by === 'own-term' || by === 'refusal' ? epoch - 1 : epoch);",
  },
];
