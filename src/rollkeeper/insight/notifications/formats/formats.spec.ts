import { describe, expect, it } from 'vitest';
import { linksOf } from './notification.js';
import { aNotification } from './notification.fixture.js';
import { discordBody } from './discord.js';
import { googleChatBody } from './google-chat.js';
import { mailText } from './mail.js';
import { pagerDutyBody } from './pagerduty.js';
import { slackBody } from './slack.js';
import { teamsBody } from './teams.js';
import { webhookBody } from './webhook.js';

const LINK = 'https://console.test/console?deployment=shop%2Fweb';
const asked = aNotification({ event: 'waiting-for-approval', approveLink: `${LINK}&ask=promote` });

describe('the body of a notification', () => {
  it('has blocks of plain text and buttons for Slack, so that no text of a user mentions a channel', () => {
    const plain = (text: string) => ({ type: 'plain_text', emoji: false, text });
    expect(slackBody(aNotification())).toEqual({
      text: 'shop/web failed at revision 7',
      blocks: [
        { type: 'header', text: plain('shop/web failed at revision 7') },
        { type: 'section', text: plain('<!channel> "web" failed & [went](https://evil.test) back') },
        {
          type: 'context',
          elements: [
            plain('Revision: 7'),
            plain('Image: web:2'),
            plain('By: claimed by anna'),
            plain('Cause: ImagePullBackOff'),
          ],
        },
        {
          type: 'actions',
          elements: [{ type: 'button', text: plain('Open in the console'), url: LINK }],
        },
      ],
    });
    expect(slackBody(aNotification({ title: '<!here>' }))).toMatchObject({ text: '&lt;!here&gt;' });
  });

  it('is a message with one Adaptive Card for a workflow of Teams, of runs that know no Markdown', () => {
    expect(teamsBody(asked)).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: {
            type: 'AdaptiveCard',
            version: '1.4',
            body: [
              { type: 'RichTextBlock', inlines: [{ type: 'TextRun', weight: 'bolder' }] },
              {
                type: 'RichTextBlock',
                inlines: [{ text: '<!channel> "web" failed & [went](https://evil.test) back' }],
              },
              { inlines: [{ text: 'Revision: 7', isSubtle: true }] },
              { inlines: [{ text: 'Image: web:2' }] },
              { inlines: [{ text: 'By: claimed by anna' }] },
              { inlines: [{ text: 'Cause: ImagePullBackOff' }] },
            ],
            actions: [
              { type: 'Action.OpenUrl', title: 'Approve', url: `${LINK}&ask=promote` },
              { type: 'Action.OpenUrl', title: 'Open in the console', url: LINK },
            ],
          },
        },
      ],
    });
  });

  it('is an embed for Discord that mentions nobody, whose Markdown is escaped', () => {
    expect(discordBody(aNotification())).toMatchObject({
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: 'shop/web failed at revision 7',
          url: LINK,
          description:
            String.raw`\<!channel\> "web" failed & \[went\]\(https://evil.test\) back` +
            `\n\n[Open in the console](${LINK})`,
          color: 0xd6_45_41,
          fields: [
            { name: 'Revision', value: '7', inline: true },
            { name: 'Image', value: 'web:2' },
            { name: 'By', value: 'claimed by anna' },
            { name: 'Cause', value: 'ImagePullBackOff' },
          ],
          timestamp: '2026-11-29T12:00:00Z',
        },
      ],
    });
  });

  it('is a card for Google Chat, whose HTML is escaped', () => {
    expect(googleChatBody(aNotification())).toMatchObject({
      cardsV2: [
        {
          cardId: 'uid.7.failed.1',
          card: {
            header: { title: 'shop/web failed at revision 7' },
            sections: [
              {
                widgets: [
                  {
                    textParagraph: {
                      text: '&lt;!channel&gt; "web" failed &amp; [went](https://evil.test) back',
                    },
                  },
                  { decoratedText: { topLabel: 'Revision', text: '7', wrapText: true } },
                  { decoratedText: { topLabel: 'Image', text: 'web:2' } },
                  { decoratedText: { topLabel: 'By', text: 'claimed by anna' } },
                  { decoratedText: { topLabel: 'Cause', text: 'ImagePullBackOff' } },
                  {
                    buttonList: {
                      buttons: [{ text: 'Open in the console', onClick: { openLink: { url: LINK } } }],
                    },
                  },
                ],
              },
            ],
          },
        },
      ],
    });
  });

  it('opens one alert of PagerDuty for a Deployment, which the next complete rollout resolves', () => {
    expect(pagerDutyBody(aNotification(), 'key')).toMatchObject({
      ...{ routing_key: 'key', dedup_key: 'rollkeeper/uid', event_action: 'trigger', client: 'Rollkeeper' },
      payload: {
        summary: 'shop/web failed at revision 7: <!channel> "web" failed & [went](https://evil.test) back',
        ...{ source: 'shop/web', severity: 'error', timestamp: '2026-11-29T12:00:00Z' },
        ...{ component: 'web', group: 'shop', class: 'failed' },
        custom_details: { revision: '7', image: 'web:2', cause: 'ImagePullBackOff' },
      },
      links: [{ href: LINK, text: 'Open in the console' }],
    });
    expect(pagerDutyBody(aNotification({ event: 'complete' }), 'key')).toEqual({
      ...{ routing_key: 'key', dedup_key: 'rollkeeper/uid', event_action: 'resolve' },
    });
  });

  it('is the template of a webhook, in which a text cannot leave its JSON string', () => {
    const json = { contentType: 'application/json', template: '{"msg":"{{text}}","x":"{{nothing}}"}' };
    expect(JSON.parse(webhookBody(aNotification(), json))).toEqual({
      msg: '<!channel> "web" failed & [went](https://evil.test) back',
      x: '{{nothing}}',
    });
    const text = { contentType: 'text/plain', template: '{{ event }} {{link}}' };
    expect(webhookBody(aNotification(), text)).toBe(`failed ${LINK}`);
    expect(JSON.parse(webhookBody(asked, { contentType: 'application/json' }))).toMatchObject({
      ...{ event: 'waiting-for-approval', revision: '7', images: 'web:2' },
      'approve-link': `${LINK}&ask=promote`,
    });
  });

  it('is no template that repeats its fields without end', () => {
    const notification = aNotification({ text: '\u0001'.repeat(1500) });
    const template = '{{text}}'.repeat(2000);
    expect(() => webhookBody(notification, { contentType: 'application/json', template })).toThrow(
      /longer than the 256 KiB/,
    );
    expect(
      webhookBody(notification, { contentType: 'text/plain', template: '{{text}}'.repeat(100) }),
    ).toHaveLength(150_000);
  });

  it('is plain text in a mail, whose subject is one header', () => {
    const mail = mailText(aNotification({ title: 'a\r\nBcc: all@example.com' }));
    expect(mail.subject).toBe('a  Bcc: all@example.com');
    expect(mail.messageId).toBe('<uid.7.failed.1@rollkeeper>');
    expect(mail.text).toBe(
      [
        '<!channel> "web" failed & [went](https://evil.test) back\n',
        'Revision: 7\nImage: web:2\nBy: claimed by anna\nCause: ImagePullBackOff',
        `Time: 2026-11-29T12:00:00Z\n\nOpen in the console: ${LINK}\n`,
      ].join('\n'),
    );
  });

  it('has no links if the console has no address', () => {
    const without = aNotification({ link: undefined });
    expect(linksOf(without)).toEqual([]);
    for (const body of [slackBody, teamsBody, discordBody, googleChatBody])
      expect(JSON.stringify(body(without))).not.toContain('console.test');
  });
});
