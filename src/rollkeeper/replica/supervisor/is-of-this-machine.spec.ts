import { describe, expect, it } from 'vitest';
import { isOfThisMachine } from './run-state.js';

const OWN = { hostname: 'build-1', addresses: ['10.0.0.7', 'fd00::7'] };

describe('isOfThisMachine', () => {
  it.each([
    ...['http://127.0.0.1:8080', 'https://localhost:1', 'https://[::1]:8080', 'redis://127.0.0.1:6379'],
    ...['https://10.0.0.7:8080/console', 'https://[fd00::7]:1', 'http://BUILD-1:8080', 'http://127.1:80'],
  ])('%s leads to it', (url) => {
    expect(isOfThisMachine(url, OWN)).toBe(true);
  });

  it.each([
    ...[
      'http://10.0.0.8',
      'https://evil.example',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example',
    ],
    ...[
      'http://127.0.0.1@evil.example',
      'https://[fd00::8]',
      'http://build-1.evil',
      '',
      'no url',
      'redis://',
    ],
  ])('%s does not', (url) => {
    expect(isOfThisMachine(url, OWN)).toBe(false);
  });
});
