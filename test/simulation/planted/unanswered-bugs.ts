import type { ModelBug } from './planted-bug.js';

const SETTLE = 'src/runtime/controller/settle-unanswered.ts';

export const UNANSWERED_BUGS: readonly ModelBug[] = [
  {
    name: 'under-way-ignored',
    breaks: 'A write that the server may still execute counts as settled',
    model: 'unanswered',
    withinFaults: 0,
    file: SETTLE,
    from: 'if (write.mayBeUnderWay && leftMs > 0 && mayStillBeStored(write, found))',
    to: 'if (write.mayBeUnderWay && leftMs > UNDER_WAY_MS && mayStillBeStored(write, found))',
  },
  {
    name: 'creation-judged-by-its-absence',
    breaks: 'A creation counts as settled because no object is there yet',
    model: 'unanswered',
    withinFaults: 0,
    file: SETTLE,
    from: "if (verb === 'create') return found === undefined;",
    to: "if (verb === 'create') return found !== undefined;",
  },
  {
    name: 'clock-ahead-waited-for',
    breaks: 'A write that was noted by a clock ahead of ours is waited for until that time',
    model: 'unanswered',
    withinFaults: 0,
    file: SETTLE,
    from: 'return write.ageMs !== undefined || write.notedAtMs <= nowMs ? write',
    to: 'return write.ageMs !== undefined || write.notedAtMs <= nowMs + 60_000 ? write',
  },
];
