import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../machinery/errors/index.js';
import { parseProxyUrl, proxyFromEnvironment } from './proxy.js';

const PROXY = 'http://proxy:3128';

describe('the proxy of the environment', () => {
  it.each<[string, string, Record<string, string>, string | undefined]>([
    ['none', 'https://api:6443', {}, undefined],
    ['that for https', 'https://api:6443', { HTTPS_PROXY: PROXY, HTTP_PROXY: 'http://other' }, PROXY],
    ['that for http', 'http://api:8080', { HTTPS_PROXY: 'http://other', HTTP_PROXY: PROXY }, PROXY],
    ['in lower case', 'https://api', { https_proxy: PROXY }, PROXY],
    ['upper case first', 'https://api', { HTTPS_PROXY: PROXY, https_proxy: 'http://other' }, PROXY],
    ['a host alone', 'https://api', { HTTPS_PROXY: 'proxy:3128' }, PROXY],
    ['nothing for https where only http is set', 'https://api', { HTTP_PROXY: PROXY }, undefined],
    ['never to localhost', 'https://localhost:6443', { HTTPS_PROXY: PROXY }, undefined],
    ['never to loopback', 'https://127.0.0.2:6443', { HTTPS_PROXY: PROXY }, undefined],
    ['never to loopback, IPv6', 'https://[::1]:6443', { HTTPS_PROXY: PROXY }, undefined],
  ])('%s', (_name, server, env, proxy) => {
    expect(proxyFromEnvironment(server, env)).toBe(proxy);
  });

  it.each<[string, string, boolean]>([
    ['*', 'https://api', true],
    ['api', 'https://api', true],
    ['api', 'https://api.example.com', false],
    ['example.com', 'https://example.com', true],
    ['example.com', 'https://api.example.com', true],
    ['example.com', 'https://notexample.com', false],
    ['.example.com', 'https://api.example.com', true],
    ['.example.com', 'https://example.com', false],
    ['*.example.com', 'https://api.example.com', true],
    ['EXAMPLE.com', 'https://api.example.COM', true],
    ['example.com:6443', 'https://api.example.com:6443', true],
    ['example.com:6443', 'https://api.example.com', false],
    ['example.com:443', 'https://api.example.com', true],
    ['10.96.0.1', 'https://10.96.0.1:443', true],
    ['10.96.0.1:6443', 'https://10.96.0.1:443', false],
    ['10.96.0.1:443', 'https://10.96.0.1', true],
    ['10.0.0.0/8', 'https://10.96.0.1', true],
    ['10.0.0.0/8', 'https://11.0.0.1', false],
    ['10.0.0.0/8', 'https://api', false],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['fd00::/8', 'https://[fe80::1]:6443', false],
    ['fd00::1', 'https://[fd00::1]', true],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]', false],
    ['other, .cluster.local ,10.0.0.0/8', 'https://kubernetes.default.svc.cluster.local', true],
    ['10.0.0.0/99', 'https://10.96.0.1', false],
    ['', 'https://api', false],
  ])('NO_PROXY=%s exempts %s: %s', (NO_PROXY, server, isExempt) => {
    expect(proxyFromEnvironment(server, { HTTPS_PROXY: PROXY, NO_PROXY })).toBe(isExempt ? undefined : PROXY);
  });

  it.each(['ftp://proxy', 'http://', '::'])('refuses %s, naming the variable', (HTTPS_PROXY) => {
    expect(() => proxyFromEnvironment('https://api', { HTTPS_PROXY })).toThrow(InvalidOptionError);
    expect(() => proxyFromEnvironment('https://api', { HTTPS_PROXY })).toThrow('HTTPS_PROXY');
  });
});

describe('a proxy’s URL', () => {
  it.each([
    ['https://me:pw@proxy:8443/', 'https://me:pw@proxy:8443'],
    ['socks5://proxy:1080', 'socks5://proxy:1080'],
    ['socks5h://proxy:1080', 'socks5://proxy:1080'],
  ])('%s is %s', (text, url) => {
    expect(parseProxyUrl(text, 'proxy-url')).toBe(url);
  });
});
