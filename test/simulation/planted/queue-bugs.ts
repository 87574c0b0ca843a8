import type { ModelBug } from './planted-bug.js';

const QUEUE = 'src/runtime/work-queue/memory-work-queue.ts';
const ACTIVATIONS = 'src/runtime/activation/queued-activations.ts';

export const QUEUE_BUGS: readonly ModelBug[] = [
  {
    name: 'cause-after-add',
    breaks: 'The cause of an add is recorded after it, and a run in between need not see the change',
    model: 'queue',
    withinFaults: 0,
    file: ACTIVATIONS,
    from: `    await this.parts.actors.recordCauses(this.name, key, versions);
    assertLeads?.();
    return adds.add(key, options);`,
    to: `    await adds.add(key, options);
    assertLeads?.();
    await this.parts.actors.recordCauses(this.name, key, versions);`,
  },
  {
    name: 'change-during-a-run-lost',
    breaks: 'A change during a run causes no other run',
    model: 'queue',
    withinFaults: 0,
    file: QUEUE,
    from: 'if (next) this.wait(key, next);',
    to: 'if (next) this.pending.delete(key);',
  },
  {
    name: 'key-given-twice',
    breaks: 'A key is given to a second replica while the first processes it',
    model: 'queue',
    withinFaults: 0,
    file: QUEUE,
    from: 'if (this.processing.has(key)) return;',
    to: 'if (this.processing.has(key) && this.waiting.has(key)) return;',
  },
  {
    name: 'key-parked-forever',
    breaks: 'A parked key is never tried again',
    model: 'queue',
    withinFaults: 1,
    file: QUEUE,
    from: 'if (tryWith)\n      this.setTimer',
    to: 'if (tryWith && retries < 0)\n      this.setTimer',
  },
  {
    name: 'parked-despite-a-change',
    breaks: 'A key is parked although a change has come during the run that failed',
    model: 'queue',
    withinFaults: 1,
    file: QUEUE,
    from: 'if (next) {\n      this.pending.set(key, addOfParked(next));',
    to: "if (next && key === '') {\n      this.pending.set(key, addOfParked(next));",
  },
  {
    name: 'lost-data-unnoticed',
    breaks: 'A leader does not notice that the queue has lost its keys',
    model: 'queue',
    withinFaults: 1,
    file: QUEUE,
    from: 'if (endedTerms !== this.endedTerms || !isCurrent(this.term, term)) throw refusedBy(this.term);',
    to: 'if (this.term && !isCurrent(this.term, term)) throw refusedBy(this.term);',
  },
  {
    name: 'cancelled-run-forgotten',
    breaks: 'The key of a run that is cancelled does not come back',
    model: 'queue',
    withinFaults: 1,
    file: ACTIVATIONS,
    from: 'await (delayMs > 0 ? queue.addAfter(key, delayMs, again) : queue.add(key, again));',
    to: 'if (delayMs > 0) await queue.addAfter(key, delayMs, again);',
  },
  {
    name: 'retry-forgotten',
    breaks: 'A run that fails is not retried',
    model: 'queue',
    withinFaults: 1,
    file: QUEUE,
    from: "this.setTimer(key, delayMs, { reason: 'retry', ...options });",
    to: "if (failures < 0) this.setTimer(key, delayMs, { reason: 'retry', ...options });",
  },
];
