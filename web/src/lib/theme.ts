// Light and dark: as the system says, or as chosen. The colours are those of the HTML report (src/report/page.cpp).
import { store } from "./store";

export interface Theme {
  dark: boolean;
  paper: string;
  card: string;
  ink: string;
  soft: string;
  rule: string;
  grid: string;
  warn: string;
  colours: string[];
}

export const light: Theme = {
  dark: false,
  paper: "#f6f5f1",
  card: "#ffffff",
  ink: "#1c2330",
  soft: "#5c6573",
  rule: "#e4e1d8",
  grid: "#ebe8e0",
  warn: "#b45309",
  colours: ["#2a6f97", "#d9772b", "#5a8f3d", "#9a4f96", "#b8952a", "#3f9c8f", "#b5485d", "#6b7aa1"],
};

export const dark: Theme = {
  dark: true,
  paper: "#12151a",
  card: "#1a1f26",
  ink: "#e7e9ec",
  soft: "#98a2b0",
  rule: "#2c333d",
  grid: "#262c35",
  warn: "#f3b562",
  colours: ["#6db3d8", "#f0a062", "#93c472", "#c98cc6", "#dcc063", "#74cabd", "#e08a9b", "#a3b0d4"],
};

export type Choice = "system" | "light" | "dark";
const key = "sheaf-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

export const choice = store<Choice>((localStorage.getItem(key) as Choice | null) ?? "system");
export const theme = store<Theme>(light);

function apply(): void {
  const isDark = choice.get() === "dark" || (choice.get() === "system" && system.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  theme.set(isDark ? dark : light);
}

export function choose(next: Choice): void {
  localStorage.setItem(key, next);
  choice.set(next);
  apply();
}

system.addEventListener("change", apply);
apply();
