import { describe, expect, it } from 'vitest';
import { NewestTexts } from './newest-texts.js';
import type { StorageKey } from './storage.js';

const pod = (name: string): StorageKey => ({ resource: 'pods', namespace: 'n', name });
const at = (revision: number, text = '{}') => ({ revision, text });

describe('NewestTexts', () => {
  it('recalls what was learned last, of that key alone', () => {
    const texts = make();
    texts.learn(pod('a'), at(2));
    texts.learn(pod('a'), at(3));
    expect(texts.recall(pod('a'))).toEqual(at(3));
    expect(texts.recall(pod('b'))).toBeUndefined();
    expect(texts.recall({ ...pod('a'), namespace: 'other' })).toBeUndefined();
    expect(texts.recall({ ...pod('a'), resource: 'services' })).toBeUndefined();
  });

  it('takes nothing older for new', () => {
    const texts = make();
    texts.learn(pod('a'), at(3));
    texts.learn(pod('a'), at(2));
    expect(texts.recall(pod('a'))).toEqual(at(3));
  });

  it('forgets what was deleted, and keeps what was created again since', () => {
    const texts = make();
    texts.learn(pod('a'), at(2));
    texts.learn(pod('b'), at(5));
    texts.forget(pod('a'), 3);
    texts.forget(pod('b'), 4);
    expect(texts.recall(pod('a'))).toBeUndefined();
    expect(texts.recall(pod('b'))).toEqual(at(5));
  });

  it('forgets an object when a read has found nothing', () => {
    const texts = make();
    texts.learn(pod('a'), at(2));
    texts.forget(pod('a'));
    expect(texts.recall(pod('a'))).toBeUndefined();
  });

  it('never keeps more entries than it may; what was learned longest ago goes first', () => {
    const texts = make({ maxEntries: 2 });
    texts.learn(pod('a'), at(2));
    texts.learn(pod('b'), at(3));
    texts.learn(pod('a'), at(4));
    texts.learn(pod('c'), at(5));
    expect(texts.size).toBe(2);
    expect(texts.recall(pod('b'))).toBeUndefined();
    expect(texts.recall(pod('a'))).toEqual(at(4));
  });

  it('never keeps more text than it may, also when one text alone is too long', () => {
    const texts = make({ maxTextLength: 10 });
    texts.learn(pod('a'), at(2, '123456'));
    texts.learn(pod('b'), at(3, '1234'));
    expect(texts.size).toBe(2);
    texts.learn(pod('c'), at(4, '1'));
    expect(texts.recall(pod('a'))).toBeUndefined();
    expect(texts.size).toBe(2);
    texts.learn(pod('d'), at(5, '12345678901'));
    expect(texts.size).toBe(0);
    texts.learn(pod('e'), at(6, '1234567890'));
    expect(texts.size).toBe(1);
  });

  it('counts the text of what it has forgotten no longer', () => {
    const texts = make({ maxTextLength: 10 });
    for (let revision = 2; revision < 20; revision++) {
      texts.learn(pod('a'), at(revision, '12345'));
      texts.forget(pod('a'));
    }
    texts.learn(pod('a'), at(20, '12345'));
    texts.clear();
    texts.learn(pod('a'), at(21, '1234567890'));
    expect(texts.size).toBe(1);
  });
});

function make(limits: { maxEntries?: number; maxTextLength?: number } = {}): NewestTexts {
  return new NewestTexts({ maxEntries: 100, maxTextLength: 1000, ...limits });
}
