import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { short } from "./format.ts";
import { AccountsPage } from "./pages/accounts.tsx";
import { AuditPage } from "./pages/audit.tsx";
import { ErrorsPage } from "./pages/errors.tsx";
import { InvitationsPage } from "./pages/invitations.tsx";
import { KeysPage } from "./pages/keys.tsx";
import { OverviewPage } from "./pages/overview.tsx";
import { PricesPage } from "./pages/prices.tsx";
import { TransferPage } from "./pages/transfer.tsx";
import { TransfersPage } from "./pages/transfers.tsx";
import { TryPage } from "./pages/try.tsx";
import { UpstreamsPage } from "./pages/upstreams.tsx";
import { UsagePage } from "./pages/usage.tsx";
import { linkTo, type Location, useLocation } from "./router.ts";
import { useSession } from "./session.ts";
import { useTheme } from "./theme.ts";
import { Icon, type IconName } from "./ui/icon.tsx";

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  readonly view: ComponentType;
}

const own: readonly Entry[] = [
  { id: "overview", title: "Overview", icon: "overview", view: OverviewPage },
  { id: "keys", title: "API keys", icon: "keys", view: KeysPage },
  { id: "usage", title: "Usage", icon: "usage", view: UsagePage },
  { id: "errors", title: "Errors", icon: "errors", view: ErrorsPage },
  { id: "try", title: "Try it", icon: "try", view: TryPage },
];

const operators: readonly Entry[] = [
  { id: "upstreams", title: "Upstreams", icon: "upstreams", view: UpstreamsPage },
  { id: "prices", title: "Prices", icon: "prices", view: PricesPage },
  { id: "transfers", title: "Transfers", icon: "transfers", view: TransfersPage },
  { id: "accounts", title: "Accounts", icon: "accounts", view: AccountsPage },
  { id: "invitations", title: "Invitations", icon: "invitations", view: InvitationsPage },
  { id: "audit", title: "Audit log", icon: "audit", view: AuditPage },
];

/** The frame around every page of who is signed in. */
export function Shell() {
  const { session } = useSession();
  const location = useLocation();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [location]);
  const isOperator = session.role === "operator";
  const entries = isOperator ? [...own, ...operators] : own;
  const current = entries.find(({ id }) => id === location.page) ?? own[0];
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skipTo}>
        Skip to content
      </a>
      <header class="bar">
        <a class="brand" href={linkTo("overview")}>
          <span class="mark" aria-hidden="true" />
          Causeway
        </a>
        <button
          type="button"
          class="button menu"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
          Menu
        </button>
      </header>
      <div id="navigation" class={isOpen ? "side open" : "side"}>
        <nav aria-label="Console">
          <NavList entries={own} current={current?.id} />
          {isOperator && (
            <>
              <p class="nav-head">Operation</p>
              <NavList entries={operators} current={current?.id} />
            </>
          )}
          <p class="nav-head">Reference</p>
          <ul>
            <li>
              <a href="/swagger" target="_blank" rel="noreferrer">
                <Icon name="audit" />
                API reference
              </a>
            </li>
            <li>
              <a href="/docs/errors" target="_blank" rel="noreferrer">
                <Icon name="errors" />
                Error codes
              </a>
            </li>
          </ul>
        </nav>
        <SideFoot />
      </div>
      <main id="main" tabIndex={-1}>
        <Page location={location} entry={current} />
      </main>
    </div>
  );
}

function NavList(props: { entries: readonly Entry[]; current: string | undefined }) {
  return (
    <ul>
      {props.entries.map(({ id, title, icon }) => (
        <li key={id}>
          <a href={linkTo(id)} aria-current={id === props.current ? "page" : undefined}>
            <Icon name={icon} />
            {title}
          </a>
        </li>
      ))}
    </ul>
  );
}

function SideFoot() {
  const { session, signOut } = useSession();
  const { theme, next } = useTheme();
  const name = session.account ? short(session.account.address) : "Operator";
  return (
    <div class="side-foot">
      <p class="who" title={session.account?.address}>
        <span class="unseen">Signed in as </span>
        {name}
      </p>
      <button type="button" class="button small" onClick={next}>
        <Icon name="theme" />
        Theme: {theme}
      </button>
      <button type="button" class="button small" onClick={() => void signOut()}>
        <Icon name="out" />
        Sign out
      </button>
    </div>
  );
}

function Page({ location, entry }: { location: Location; entry: Entry | undefined }) {
  if (entry?.id === "transfers" && location.argument !== undefined) {
    return <TransferPage id={location.argument} />;
  }
  const View = entry?.view;
  return View ? <View key={entry.id} /> : null;
}

/** The hash is the page's address, so the link must not change it. */
function skipTo(event: MouseEvent) {
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
}
