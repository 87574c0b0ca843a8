import { expect, it } from 'vitest';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { OidcCredentials } from './oidc-credentials.js';

const idTokenOf = (claims: string): string => `e30.${Buffer.from(claims).toString('base64url')}.c2ln`;

it.each(['null', '7', '[]', '{'])(
  'an id-token whose claims are no object is not a JWT: %s',
  async (claims) => {
    const read = async () => {
      const credentials = new OidcCredentials({
        field: 'users "jane"',
        config: {
          'idp-issuer-url': 'https://idp.test',
          'client-id': 'kubectl',
          'id-token': idTokenOf(claims),
        },
        persist: () => undefined,
        env: {},
        clock: new FakeClock(),
      });
      await credentials.headers();
    };
    await expect(read()).rejects.toThrow('is not a JWT');
  },
);
