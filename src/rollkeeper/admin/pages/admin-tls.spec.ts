import { describe, expect, it } from 'vitest';
import type { AdminTls, AdminTlsOptions } from './admin-tls.js';
import { decideAdminTls } from './admin-tls.js';

const files = { certFile: 'tls.crt', keyFile: 'tls.key' };
const names = { certFile: 'tls-cert', keyFile: 'tls-key', insecureHttp: 'insecure' };
const decide = (host: string, options: Partial<AdminTlsOptions> = {}): AdminTls =>
  decideAdminTls({ host, insecureHttp: false, ...options }, names);

describe('whether the admin port speaks TLS', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
    'is not the case on %s, which nobody else reaches',
    (host) => {
      expect(decide(host)).toEqual({ serves: 'plain-http', inClear: false });
    },
  );

  it.each(['0.0.0.0', '::', '10.0.0.9', 'fe80::1', 'rollkeeper', 'localhost.example', '127.0.0.1.example'])(
    'is the case on %s, with a certificate of its own making',
    (host) => {
      expect(decide(host)).toEqual({ serves: 'self-made' });
    },
  );

  it('is the case wherever a certificate is named', () => {
    for (const host of ['127.0.0.1', '0.0.0.0'])
      expect(decide(host, files)).toEqual({ serves: 'files', certFile: 'tls.crt', keyFile: 'tls.key' });
  });

  it('is not the case where somebody refuses it by name, and that is known', () => {
    expect(decide('0.0.0.0', { insecureHttp: true })).toEqual({
      serves: 'plain-http',
      inClear: true,
    });
    expect(decide('127.0.0.1', { insecureHttp: true })).toMatchObject({ inClear: false });
  });

  it('has to be said in one way', () => {
    expect(() => decide('0.0.0.0', { certFile: 'x' })).toThrow('tls-key: is needed');
    expect(() => decide('0.0.0.0', { keyFile: 'x' })).toThrow('tls-cert: is needed');
    expect(() => decide('0.0.0.0', { ...files, insecureHttp: true })).toThrow(
      'insecure: contradicts tls-cert',
    );
  });
});
