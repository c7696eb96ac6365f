# A module for home-manager: navd for one user, with destinations as attributes.
#
#   services.navd = {
#     enable = true;
#     windows.enable = true;
#     destinations.mixer = { command = [ "foot" "-e" "pulsemixer" ]; group = "panels"; window.app-id = "mixer"; };
#   };
navd:
{ config, lib, pkgs, ... }:

let
  cfg = config.services.navd;
  toml = pkgs.formats.toml { };
in
{
  options.services.navd = {
    enable = lib.mkEnableOption "navd, which opens and closes panels";
    package = lib.mkOption {
      type = lib.types.package;
      default = navd.packages.${pkgs.stdenv.hostPlatform.system}.default;
      description = "The package with navd, navctl and navd-windows.";
    };
    windows.enable = lib.mkEnableOption "navd-windows, by which panels follow their windows";
    destinations = lib.mkOption {
      type = lib.types.attrsOf toml.type;
      default = { };
      description = "Files of destinations by name: the keys of navd.destination(5).";
    };
    settings = lib.mkOption {
      type = toml.type;
      default = { };
      description = "The file navd.toml.";
    };
  };

  config = lib.mkIf cfg.enable {
    # The bus finds its file for activation, and systemd the units, in the profile of the user.
    home.packages = [ cfg.package ];
    dbus.packages = [ cfg.package ];
    xdg.configFile =
      lib.mapAttrs'
        (name: value: lib.nameValuePair "navd/destinations/${name}.toml" { source = toml.generate "${name}.toml" value; })
        cfg.destinations
      // lib.optionalAttrs (cfg.settings != { }) { "navd/navd.toml".source = toml.generate "navd.toml" cfg.settings; }
      # Enables the unit of the package.
      // lib.optionalAttrs cfg.windows.enable {
        "systemd/user/graphical-session.target.wants/navd-windows.service".source =
          "${cfg.package}/share/systemd/user/navd-windows.service";
      };
  };
}
