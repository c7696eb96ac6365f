# Evaluates the flake and its module for home-manager without a network, with stand-ins for nixpkgs, as “make release-check” does. Gives the
# name of the package.
{ root, release }:

let
  nixpkgs = (import (root + "/packaging/nix/stand-in/flake.nix")).outputs { self = nixpkgs; };
  flake = (import (root + "/flake.nix")).outputs { self = flake; inherit nixpkgs release; };
  inherit (nixpkgs) lib;
  pkgs = nixpkgs.legacyPackages.x86_64-linux;
  home = flake.homeManagerModules.default {
    inherit lib pkgs;
    config.services.navd = {
      enable = true;
      package = flake.packages.x86_64-linux.default;
      windows.enable = true;
      destinations.mixer = { command = [ "foot" "-e" "pulsemixer" ]; group = "panels"; };
      settings.groups.panels = { };
    };
  };
in
assert builtins.attrNames home.options.services.navd == [ "destinations" "enable" "package" "settings" "windows" ];
assert builtins.attrNames home.config.xdg.configFile == [
  "navd/destinations/mixer.toml" "navd/navd.toml" "systemd/user/graphical-session.target.wants/navd-windows.service"
];
flake.packages.x86_64-linux.default.name
