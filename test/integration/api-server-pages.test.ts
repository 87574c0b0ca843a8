import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RunningApiServer } from './api-server-harness.js';
import { startApiServer } from './api-server-harness.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const RBAC = 'rbac.authorization.k8s.io';
const JANE = { authorization: 'Bearer janes-token' };
const WATCHDOG = { authorization: 'Bearer dogs-token' };

let server: RunningApiServer;

beforeAll(async () => {
  server = await startApiServer({
    users: [
      { token: 'janes-token', username: 'jane' },
      { token: 'dogs-token', username: 'dog', groups: ['system:monitoring'] },
    ],
  });
  // A user who may do everything in a namespace may look at no page of the server.
  await server.call('POST', `/apis/${RBAC}/v1/namespaces/default/rolebindings`, {
    metadata: { name: 'jane' },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'jane', apiGroup: RBAC }],
  });
});
afterAll(() => server.stop());

describe('the pages of the server', () => {
  it.each(['/statusz', '/flagz', '/metrics', '/metrics/slis', '/livez/ping', '/openid/v1/jwks/'])(
    '%s is for those who watch over the server, and for none of a namespace',
    async (path) => {
      expect((await server.call('GET', path, undefined, JANE)).status).toBe(403);
      const isIssuer = path.startsWith('/openid');
      expect((await server.call('GET', path, undefined, WATCHDOG)).status).toBe(isIssuer ? 403 : 200);
      expect((await server.call('GET', path)).status).toBe(200);
    },
  );

  it.each(['application/json', 'application/yaml'])(
    'are objects for who asks for them in %s',
    async (type) => {
      const accept = `${type};as=Statusz;v=v1beta1;g=config.k8s.io`;
      const { headers, text } = await server.call('GET', '/statusz', undefined, { accept });
      expect(headers.get('content-type')).toBe(type);
      expect(parse(text)).toMatchObject({ apiVersion: 'config.k8s.io/v1beta1', binaryVersion: '1.36.2' });
      expect((await server.call('GET', '/statusz', undefined, { accept: type })).status).toBe(406);
    },
  );

  it('tell how the checks went', async () => {
    await server.call('GET', '/readyz');
    const { text } = await server.call('GET', '/metrics/slis');
    expect(text).toContain('kubernetes_healthcheck{name="informer-sync",type="readyz"} 1\n');
    expect((await server.call('DELETE', '/metrics/slis')).text).toBe('metrics reset\n');
    expect((await server.call('GET', '/metrics/slis')).text).toBe('');
  });

  it.each(['/nope', '/apis/nope', '/apis/nope.example.com/v1/things', '/openapi/nope', '/livez/nope'])(
    '%s is none, as a text',
    async (path) => {
      const { headers, status, text } = await server.call('GET', path);
      expect({ status, text }).toEqual({ status: 404, text: '404 page not found\n' });
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    },
  );

  it.each(['/api/v2', '/api/v1/nope', '/apis/apps/v2', '/apis/apps/v1/nope'])(
    '%s is none of a group that there is, as a Status',
    async (path) => {
      const { body, status } = await server.call('GET', path);
      expect({ status, reason: body.reason }).toEqual({ status: 404, reason: 'NotFound' });
    },
  );
});

describe('an answer', () => {
  beforeAll(async () => {
    for (let index = 0; index < 40; index++) {
      const metadata = { name: `large-${String(index).padStart(2, '0')}`, labels: { set: 'large' } };
      const data = { text: 'one\ntwo\n', filler: 'x'.repeat(20_000) };
      await server.call('POST', CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    }
  });

  it('to a browser or to curl is indented, and the same', async () => {
    const path = `${CONFIG_MAPS}?labelSelector=set%3Dlarge`;
    const plain = await server.call('GET', path);
    const pretty = await server.call('GET', path, undefined, { 'user-agent': 'curl/8.5.0' });
    expect(pretty.text).toBe(JSON.stringify(plain.body, null, 2));
    expect(pretty.headers.get('content-type')).toBe('application/json');
    const refused = await server.call('GET', `${CONFIG_MAPS}/nope?pretty=true`);
    expect(refused.text).toBe(JSON.stringify(refused.body, null, 2));
  });

  it('in YAML is the list that it is in JSON, however many pages it has', async () => {
    const path = `${CONFIG_MAPS}?labelSelector=set%3Dlarge`;
    const json = await server.call('GET', path);
    const yaml = await server.call('GET', path, undefined, { accept: 'application/yaml' });
    expect(yaml.headers.get('content-type')).toBe('application/yaml');
    expect(yaml.text.startsWith('apiVersion: v1\nitems:\n- data:\n')).toBe(true);
    expect(parse(yaml.text, { version: '1.1' })).toEqual(json.body);
  });

  it('about any version is whole, and one about a version that is to come is refused', async () => {
    const any = await server.call('GET', `${CONFIG_MAPS}?limit=2&resourceVersion=0`);
    expect(any.body.metadata.continue).toBeUndefined();
    expect(any.body.items.length).toBeGreaterThanOrEqual(40);
    const one = `${CONFIG_MAPS}/large-00`;
    expect((await server.call('GET', `${one}?resourceVersion=999999999`)).status).toBe(504);
    expect((await server.call('GET', `${one}?resourceVersion=${any.body.metadata.resourceVersion}`)).status).toBe(200);
  });

  it('to the creation of what is being deleted says so', async () => {
    const metadata = { name: 'going', finalizers: ['example.com/hold'] };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    await server.call('POST', CONFIG_MAPS, object);
    await server.call('DELETE', `${CONFIG_MAPS}/going`);
    for (const query of ['', '?dryRun=All'])
      expect((await server.call('POST', `${CONFIG_MAPS}${query}`, object)).body.message).toBe(
        'object is being deleted: configmaps "going" already exists',
      );
  });
}); // prettier-ignore
