import type { Notification } from './notification.js';
import { factsOf, linksOf } from './notification.js';

/**
 * The body of an incoming webhook (https://developers.google.com/workspace/chat/quickstart/webhooks): a card
 * (https://developers.google.com/workspace/chat/api/reference/rest/v1/cards). Its texts know some HTML, so what users wrote is
 * escaped.
 */
export function googleChatBody(notification: Notification): object {
  const { id, text, title } = notification;
  const links = linksOf(notification);
  const facts = factsOf(notification).map(({ name, value }) => ({
    decoratedText: { topLabel: name, text: escapeHtml(value), wrapText: true },
  }));
  const buttons = links.map(({ text: words, url }) => ({ text: words, onClick: { openLink: { url } } }));
  const widgets = [
    { textParagraph: { text: escapeHtml(text) } },
    ...facts,
    ...(buttons.length === 0 ? [] : [{ buttonList: { buttons } }]),
  ];
  return { cardsV2: [{ cardId: id, card: { header: { title }, sections: [{ widgets }] } }] };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
