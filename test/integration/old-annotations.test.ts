import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aDeployment, startApiServer } from './api-server-harness.js';
import type { Body, RunningApiServer } from './api-server-harness.js';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const ROLLBACK_TO = 'deprecated.deployment.rollback.to';
const GENERATION = 'deprecated.daemonset.template.generation';
const types = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

let server: RunningApiServer;
beforeAll(async () => {
  server = await startApiServer();
});
afterAll(() => server.stop());

function annotated(object: Body, annotations: Record<string, string>): Body {
  return { ...object, metadata: { ...object.metadata, annotations } };
}

describe('an annotation that was a number in older versions of the API', () => {
  const problem = `failed to parse annotation[${ROLLBACK_TO}]=abc as int64: strconv.ParseInt: parsing "abc": invalid syntax`;
  const asked = { metadata: { annotations: { [ROLLBACK_TO]: 'abc' } } };

  it('is refused in a new Deployment, and in one that replaces another, unless it is one or empty', async () => {
    const created = await server.call(
      'POST',
      DEPLOYMENTS,
      annotated(aDeployment('a'), { [ROLLBACK_TO]: 'abc' }),
    );
    expect(created).toMatchObject({
      status: 400,
      body: { message: `Deployment in version "v1" cannot be handled as a Deployment: ${problem}` },
    });
    for (const value of ['', '7', '+7'])
      expect(
        (
          await server.call(
            'POST',
            DEPLOYMENTS,
            annotated(aDeployment(`b${value.length}`), { [ROLLBACK_TO]: value }),
          )
        ).status,
      ).toBe(201);
    const replaced = annotated(aDeployment('b0'), { [ROLLBACK_TO]: '9223372036854775808' });
    const { body, status } = await server.call('PUT', `${DEPLOYMENTS}/b0`, replaced);
    expect(status).toBe(400);
    expect(body).toMatchObject({
      message: expect.stringMatching(/"9223372036854775808": value out of range$/),
    });
  });

  it('makes a merge patch unprocessable, as kubectl annotate sends it', async () => {
    await server.call('POST', DEPLOYMENTS, aDeployment('c'));
    const { body, status } = await server.call('PATCH', `${DEPLOYMENTS}/c`, asked, {
      'content-type': types.merge,
    });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      reason: 'Invalid',
      message: expect.stringMatching(
        /^ "" is invalid: patch: Invalid value: "\{.*: failed to parse annotation\[/,
      ),
    });
  });

  it('is an error without a reason in a strategic merge, and in what is applied', async () => {
    await server.call('POST', DEPLOYMENTS, aDeployment('d'));
    const merged = await server.call('PATCH', `${DEPLOYMENTS}/d`, asked, { 'content-type': types.strategic });
    expect(merged).toMatchObject({ status: 500, body: { message: problem } });
    const config = annotated(aDeployment('d'), { [ROLLBACK_TO]: 'abc' });
    const path = `${DEPLOYMENTS}/d?fieldManager=m&force=true`;
    const applied = await server.call('PATCH', path, config, { 'content-type': types.apply });
    expect(applied).toMatchObject({
      status: 500,
      body: {
        message: expect.stringMatching(
          /^failed to convert new object \(.*\) to proper version: failed to parse/,
        ),
      },
    });
  });

  it('is refused in a DaemonSet, also where it is empty', async () => {
    const { spec } = aDeployment('e') as { spec: Body };
    const daemonSet = {
      ...{ apiVersion: 'apps/v1', kind: 'DaemonSet' },
      metadata: { name: 'e', annotations: { [GENERATION]: '' } },
      spec: { selector: spec.selector, template: spec.template },
    };
    expect(await server.call('POST', DAEMON_SETS, daemonSet)).toMatchObject({
      status: 400,
      body: {
        message:
          'DaemonSet in version "v1" cannot be handled as a DaemonSet: strconv.ParseInt: parsing "": invalid syntax',
      },
    });
  });
});
