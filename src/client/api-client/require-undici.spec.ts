import { Agent } from 'undici';
import { expect, it } from 'vitest';
import { requireUndici } from './pod-channels.js';

it('takes the package undici', () => {
  expect(() => requireUndici(Agent)).not.toThrow();
});

it('says what to do where a runtime has another module of this name', () => {
  expect(() => requireUndici(class Agent {})).toThrow(/bundle it first/);
});
