// English words that say little of what a question is about, and words that mean the same. Data only, about any product:
// a name of one product's things does not belong here.

const list = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Words of any question. Contractions are split at their apostrophe before. */
export const fillers: ReadonlySet<string> = list(
  `a about again all already also an and any anyone anything are as at be because been being best both but by can could d
  did do does doing done each else even ever every for from get gets getting give gives going goes got had has have
  having hello help her here hey hi his how however i if im in into is it its itself just keep kindly know let like ll
  m made main make makes making may maybe me mean means might much must my myself need needed needs now of off ok on one
  or other our out own per please possible put putting rather re really s say says shall she should simply since so some
  someone something still such sure t tell than thank thanks that the their them then there these they thing things this
  those through to today too up us use used user uses using ve very via want wanted wants was way ways we well were what
  whats whatever when where whether which while who whom whose why will wish with within work works working would yes you your
  yours yourself`,
);

/** Words that questions about different things have: how much, how many, when, where. They say less than a name. */
export const weakWords: ReadonlySet<string> = list(
  `above accept across add added adding after allow allowed always amount apply applied appear automatic available
  before below between big certain change check choose config configuration configure configuring connect connecting
  correct count different during enable enabled enabling example exist explain faster few field file find
  finding first full guide happen happens include included including increase info information item kind large last
  less level list long low many max maximum member min minimum mode more most multiple name new next number old only
  open option part place possible reach read require required result run running same see send sent set sets setting
  settings setup several show shown side single site size small special specific start state status step stop
  support supported take takes time times total turn type value various view visible wait while whole without write`,
);

/** What is done to a thing. Two questions about one thing that name two of these ask for different things. */
export const actionWords: ReadonlySet<string> = list(
  `approve archive assign backup block cancel clear clone copy create debug delete deploy disable disconnect download downgrade
  duplicate encrypt expire export filter hide import install invite lock merge migrate monitor move pause print
  publish refund rename replace reset restart restore restrict resume retry revert revoke rollback rotate schedule search
  share skip sort split subscribe sync test transfer translate trigger undo uninstall unlock unpublish unsubscribe update upgrade
  upload validate verify`,
);

/** Words for "it does not work". Two questions about one failure differ in them. */
export const troubleWords: ReadonlySet<string> = list(
  `broken bug cannot cant crash crashes denied don doesn didn isn aren wasn wouldn couldn won error errors fail failed
  failing failing fails failure fault incorrect invalid issue issues missing never no not nothing problem problems refused
  rejected stuck trouble unable unexpected wrong`,
);

/** Each word of a row becomes the first one, with any ending. */
const rows = `
  delete remove erase
  create generate
  change edit modify update adjust
  doc documentation
  repository repo
  authentication auth authenticate
  login signin logon
  multiple multi several
  retry rerun
  color colour
  organization org organisation
  application app
  database db
  kubernetes k8s
  environment env
  variable var
  production prod
  password pwd passwd
  javascript js
  typescript ts
  message msg
  mail email
  picture image photo
  show display view see
  artifact artefact
  queue queued
  run runner
  separate seperate
  verify verification
  replica replication
  maximum max
  minimum min
  automatic auto
  price cost`;

export const sameMeaning: readonly (readonly string[])[] = rows
  .trim()
  .split('\n')
  .map((row) => row.trim().split(' '));

/** Phrases that are written in several ways. */
export const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bsingle[- ]sign[- ]?on\b/g, 'sso'],
  [/\b(?:two|2)[- ]factor\b/g, '2fa'],
  [/\b(?:log|sign)[- ](?:in|on)\b/g, 'login'],
  [/\btim(?:e|es|ed|ing)[- ]?outs?\b/g, 'timeout'],
  [/\b(back|check|fail|opt|roll|scale|set|shut|sign)(?:s|ed|l?ing)?[- ](back|down|out|over|up)\b/g, '$1$2'],
  [/\b(read|write)[- ]only\b/g, '$1only'],
  [/\bmore than one\b/g, 'multiple'],
  [/\be-mail/g, 'email'],
  // "re-run", "multi-factor", "auto-scaling", "self-hosted": one word, also where it is written as two.
  [/\b(re|un|pre|auto|self|non|sub|co)-(?=\p{L})/gu, '$1'],
  [/\bself (?=host)/g, 'self'],
];
