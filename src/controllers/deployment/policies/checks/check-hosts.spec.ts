import { describe, expect, it } from 'vitest';
import { hostProblem, parseHostRules } from './check-hosts.js';

describe('the hosts that requests may go to', () => {
  const rules = parseHostRules(
    'prometheus.monitoring:9090, *.example.com, 10.0.0.7, [::1]:80, Ci.Test',
    'check-hosts',
  );

  it.each([
    'http://prometheus.monitoring:9090/api',
    'https://a.example.com',
    'http://a.b.example.com:81',
    'http://10.0.0.7:1234',
    'http://0x0a.7',
    'http://[0:0::1]',
    'http://ci.test.',
  ])('are those of the list: %s', (url) => {
    expect(hostProblem(url, rules)).toBeUndefined();
  });

  it.each([
    'http://prometheus.monitoring',
    'http://prometheus.monitoring.evil.test:9090',
    'http://example.com',
    'http://badexample.com',
    'http://10.0.0.70',
    'http://169.254.169.254/latest/meta-data',
    'http://2130706433',
    'http://[::1]:81',
    'http://[::ffff:10.0.0.7]',
    'http://ci.test@evil.test',
    'http://evil.test#ci.test',
  ])('are no others: %s', (url) => {
    expect(hostProblem(url, rules)).toContain('is not one of the hosts that --check-hosts allows');
  });

  it.each(['http://api.1.2.3.999', 'http://ci.test /x', 'ci.test'])(
    'are none of what is no URL: %s',
    (url) => {
      expect(hostProblem(url, rules)).toBe("the request's URL cannot be read");
    },
  );

  it('are none without a list', () => {
    expect(parseHostRules(' , ', 'check-hosts')).toEqual([]);
    expect(hostProblem('http://localhost', [])).toContain('localhost:80');
  });

  it.each([
    '*',
    '*.',
    '*.*',
    'http://a',
    'a:0',
    'a:70000',
    'a b',
    'a/b',
    '0x7f.1',
    '*.7',
    '[::1',
    '*.[::1]',
    'a@b',
  ])('are named if they cannot be read: %s', (entry) => {
    expect(() => parseHostRules(entry, 'check-hosts')).toThrow(/check-hosts/);
  });
});
