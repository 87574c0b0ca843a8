import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { LinkedAbort } from './linked-abort.js';

describe('a linked abort', () => {
  it('aborts with the reason of the first parent that does', () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const linked = new LinkedAbort(a.signal, b.signal);
    expect(linked.signal.aborted).toBe(false);
    b.abort('b');
    a.abort('a');
    expect(linked.signal.reason).toBe('b');
  });

  it('is aborted from the start where a parent is', () => {
    const linked = new LinkedAbort(new AbortController().signal, AbortSignal.abort('gone'));
    expect(linked.signal.reason).toBe('gone');
  });

  it('once closed stays as it is, and leaves nothing on its parents', () => {
    const parent = new AbortController();
    const linked = new LinkedAbort(parent.signal);
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(1);
    linked.close();
    expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0);
    parent.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});
