import { describe, expect, it } from 'vitest';
import { parseHostRules } from '../../../../controllers/deployment/index.js';
import { readChannel } from './channel.js';
import { aChannelSecret } from './notification.fixture.js';

const HOSTS = parseHostRules('*.test, mail.test:465', 'notification-hosts');
const SECRET = 'https://hooks.slack.test/services/T0/B0/s3cret';
const slack = { service: 'slack', url: SECRET };

describe('the Secret of a channel', () => {
  it('says the service, the address and the events', () => {
    const channel = readChannel(aChannelSecret({ ...slack, events: 'failed, complete' }), HOSTS);
    expect(channel).toMatchObject({ service: 'slack', url: SECRET });
    expect([...channel.events]).toEqual(['failed', 'complete']);
  });

  it('is about every event by default, and for PagerDuty about those that open or close an alert', () => {
    expect(readChannel(aChannelSecret(slack), HOSTS).events.size).toBe(6);
    const data = {
      service: 'pagerduty',
      'routing-key': 'key',
      url: 'https://events.pagerduty.test/v2/enqueue',
    };
    expect([...readChannel(aChannelSecret(data), HOSTS).events]).toEqual([
      ...['failed', 'rolled-back', 'complete'],
    ]);
  });

  it('may name a mail server with a password', () => {
    const data = { service: 'email', url: 'smtps://u:p%40@mail.test', from: 'a@x.test', to: 'b@x.test' };
    expect(readChannel(aChannelSecret(data), HOSTS)).toMatchObject({ from: 'a@x.test', to: 'b@x.test' });
  });

  it.each([
    ['is not marked', aChannelSecret(slack, ''), 'rollkeeper.dev/check-hosts does not have the host'],
    ['allows another host', aChannelSecret(slack, 'other.test'), 'does not have the host hooks.slack.test'],
    ['has a mark that is no list', aChannelSecret(slack, '*'), '"*" is not'],
    [
      'leads to a host that the operator has not allowed',
      aChannelSecret({ ...slack, url: 'https://hooks.slack.com/s3cret' }, 'hooks.slack.com'),
      'hooks.slack.com:443 is not one of the hosts that --notification-hosts allows',
    ],
    [
      'leads to a port of mail that the operator has not allowed',
      aChannelSecret({ service: 'email', url: 'smtp://mail.example', from: 'a', to: 'b' }, 'mail.example'),
      'mail.example:587 is not one of the hosts',
    ],
    [
      'has thousands of addresses',
      aChannelSecret({
        service: 'email',
        url: 'smtps://u:s3cret@mail.test',
        from: 'a',
        to: 's3cret,'.repeat(2000),
      }),
      'its key from or to has more than 1000 characters',
    ],
    ['names no service', aChannelSecret({ url: SECRET }), 'its key service is not one of slack'],
    ['has no address', aChannelSecret({ service: 'slack' }), 'it has no key url'],
    ['has no URL', aChannelSecret({ ...slack, url: 's3cret' }), 'no URL of https:// or http://'],
    ['has a login', aChannelSecret({ ...slack, url: 'https://s3cret@x.test' }), 'has a user or a password'],
    ['has a file', aChannelSecret({ ...slack, url: 'file:///etc/s3cret' }), 'no URL of https:// or http://'],
    ['has a wrong event', aChannelSecret({ ...slack, events: 'failed, s3cret' }), 'its key events'],
    ['has no key', aChannelSecret({ service: 'pagerduty', url: SECRET }), 'it has no key routing-key'],
    [
      'has a short key',
      aChannelSecret({ ...slack, service: 'webhook', 'signing-key': 's3cret' }),
      'its key signing-key is too short',
    ],
  ])('is refused if it %s, and no value of it is in the message', (_what, secret, why) => {
    let message = '';
    try {
      readChannel(secret, HOSTS);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(why);
    expect(message).not.toContain('s3cret');
  });
});
